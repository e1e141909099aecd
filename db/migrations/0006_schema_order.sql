ALTER TABLE "strategies" ALTER COLUMN "default_config" SET DATA TYPE json;--> statement-breakpoint
ALTER TABLE "strategies" ALTER COLUMN "parameter_schema" SET DATA TYPE json;