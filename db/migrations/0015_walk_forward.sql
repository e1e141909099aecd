ALTER TABLE "optimizations" ADD COLUMN "walk_forward" jsonb;--> statement-breakpoint
ALTER TABLE "optimizations" ADD COLUMN "windows" jsonb DEFAULT '[]'::jsonb NOT NULL;--> statement-breakpoint
ALTER TABLE "optimizations" ADD COLUMN "window_points_done" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "optimizations" ADD COLUMN "out_of_sample" jsonb;--> statement-breakpoint
ALTER TABLE "trial_chunks" ADD COLUMN "window" integer;