CREATE TABLE "agent_codes" (
	"user_id" text PRIMARY KEY NOT NULL,
	"code_sha256" text NOT NULL,
	"client_sha256" text NOT NULL,
	"name" text NOT NULL,
	"scope" text NOT NULL,
	"redirect_uri" text NOT NULL,
	"challenge" text NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "agent_codes_code_sha256_unique" UNIQUE("code_sha256")
);
--> statement-breakpoint
ALTER TABLE "agent_codes" ADD CONSTRAINT "agent_codes_user_id_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."user"("id") ON DELETE cascade ON UPDATE no action;