CREATE TABLE "optimizations" (
	"id" uuid PRIMARY KEY NOT NULL,
	"owner_id" text NOT NULL,
	"symbol" text NOT NULL,
	"exchange" text NOT NULL,
	"strategy" text NOT NULL,
	"strategy_slug" text,
	"strategy_version" text,
	"start_date" date NOT NULL,
	"end_date" date NOT NULL,
	"initial_balance" double precision NOT NULL,
	"parameters" jsonb NOT NULL,
	"runtime" jsonb,
	"space" jsonb NOT NULL,
	"constraints" text[] NOT NULL,
	"method" text NOT NULL,
	"objective" text NOT NULL,
	"direction" text NOT NULL,
	"trials_max" integer NOT NULL,
	"seed" bigint NOT NULL,
	"name" text,
	"status" text DEFAULT 'queued' NOT NULL,
	"idempotency_key" text,
	"request_sha256" text,
	"space_points" bigint NOT NULL,
	"points" integer DEFAULT 0 NOT NULL,
	"points_done" integer DEFAULT 0 NOT NULL,
	"points_constrained" integer DEFAULT 0 NOT NULL,
	"points_refused" integer DEFAULT 0 NOT NULL,
	"trials" integer DEFAULT 0 NOT NULL,
	"trials_failed" integer DEFAULT 0 NOT NULL,
	"slices_open" integer DEFAULT 0 NOT NULL,
	"best" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"data_sha256" text,
	"error" jsonb,
	"size_bytes" bigint DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"started_at" timestamp (3) with time zone,
	"finished_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "trial_chunks" (
	"optimization_id" uuid NOT NULL,
	"first" integer NOT NULL,
	"points" integer NOT NULL,
	"trials" integer NOT NULL,
	"data" "bytea" NOT NULL,
	"notes" jsonb NOT NULL,
	"returns" "bytea" NOT NULL,
	"duration_ms" real NOT NULL,
	CONSTRAINT "trial_chunks_optimization_id_first_pk" PRIMARY KEY("optimization_id","first")
);
--> statement-breakpoint
ALTER TABLE "optimizations" ADD CONSTRAINT "optimizations_owner_id_user_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."user"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "trial_chunks" ADD CONSTRAINT "trial_chunks_optimization_id_optimizations_id_fk" FOREIGN KEY ("optimization_id") REFERENCES "public"."optimizations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "optimizations_owner_index" ON "optimizations" USING btree ("owner_id","id");--> statement-breakpoint
CREATE INDEX "optimizations_key_index" ON "optimizations" USING btree ("owner_id","idempotency_key") WHERE idempotency_key is not null;--> statement-breakpoint
CREATE INDEX "optimizations_unended_index" ON "optimizations" USING btree ("owner_id") WHERE status in ('queued', 'running');--> statement-breakpoint
CREATE INDEX "optimizations_module_index" ON "optimizations" USING btree ((runtime ->> 'sha256')) WHERE runtime ->> 'sha256' is not null;