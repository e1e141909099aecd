CREATE TABLE "module_checks" (
	"id" uuid PRIMARY KEY NOT NULL,
	"owner_id" text NOT NULL,
	"data" "bytea",
	"module_url" text,
	"parameters" jsonb NOT NULL,
	"lookback_candles" integer NOT NULL,
	"verdict" jsonb,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "modules" (
	"sha256" text PRIMARY KEY NOT NULL,
	"data" "bytea" NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "strategies" (
	"id" uuid PRIMARY KEY NOT NULL,
	"owner_id" text NOT NULL,
	"slug" text NOT NULL,
	"name" text NOT NULL,
	"description" text NOT NULL,
	"runtime_type" text NOT NULL,
	"language" text NOT NULL,
	"default_frequency" text NOT NULL,
	"min_candles" integer NOT NULL,
	"lookback_candles" integer NOT NULL,
	"default_config" jsonb NOT NULL,
	"parameter_schema" jsonb NOT NULL,
	"is_public" boolean NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "strategies_slug_unique" UNIQUE("slug")
);
--> statement-breakpoint
CREATE TABLE "strategy_versions" (
	"strategy_id" uuid NOT NULL,
	"version" text NOT NULL,
	"runtime_config" jsonb NOT NULL,
	"sha256" text,
	"size_bytes" integer,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "strategy_versions_strategy_id_version_pk" PRIMARY KEY("strategy_id","version")
);
--> statement-breakpoint
ALTER TABLE "backtests" ADD COLUMN "runtime" jsonb;--> statement-breakpoint
ALTER TABLE "module_checks" ADD CONSTRAINT "module_checks_owner_id_user_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."user"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "strategies" ADD CONSTRAINT "strategies_owner_id_user_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."user"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "strategy_versions" ADD CONSTRAINT "strategy_versions_strategy_id_strategies_id_fk" FOREIGN KEY ("strategy_id") REFERENCES "public"."strategies"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "strategy_versions" ADD CONSTRAINT "strategy_versions_sha256_modules_sha256_fk" FOREIGN KEY ("sha256") REFERENCES "public"."modules"("sha256") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "strategies_owner_index" ON "strategies" USING btree ("owner_id");--> statement-breakpoint
CREATE INDEX "strategies_name_index" ON "strategies" USING btree ("name");