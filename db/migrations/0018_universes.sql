CREATE TABLE "universe_versions" (
	"universe_id" uuid NOT NULL,
	"version" integer NOT NULL,
	"members" json NOT NULL,
	"members_count" integer NOT NULL,
	"size_bytes" bigint NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "universe_versions_universe_id_version_pk" PRIMARY KEY("universe_id","version")
);
--> statement-breakpoint
CREATE TABLE "universes" (
	"id" uuid PRIMARY KEY NOT NULL,
	"owner_id" text NOT NULL,
	"slug" text NOT NULL,
	"description" text NOT NULL,
	"is_public" boolean NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "universes_slug_unique" UNIQUE("slug")
);
--> statement-breakpoint
ALTER TABLE "universe_versions" ADD CONSTRAINT "universe_versions_universe_id_universes_id_fk" FOREIGN KEY ("universe_id") REFERENCES "public"."universes"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "universes" ADD CONSTRAINT "universes_owner_id_user_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."user"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "universes_owner_index" ON "universes" USING btree ("owner_id","id");