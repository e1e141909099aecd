ALTER TABLE "instruments" ADD COLUMN "session" jsonb;--> statement-breakpoint
ALTER TABLE "instruments" ADD COLUMN "used_at" timestamp (3) with time zone DEFAULT now() NOT NULL;