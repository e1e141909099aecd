CREATE TABLE "served_requests" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"owner_id" text NOT NULL,
	"name" text NOT NULL,
	"body" text NOT NULL,
	"timeout_ms" integer NOT NULL,
	"taken_at" timestamp (3) with time zone,
	"deliveries" smallint DEFAULT 0 NOT NULL,
	"answer" text,
	"is_refusal" boolean DEFAULT false NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "served_requests" ADD CONSTRAINT "served_requests_owner_id_user_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."user"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "served_requests_name_index" ON "served_requests" USING btree ("owner_id","name","created_at");