CREATE TABLE "monte_carlo_series" (
	"monte_carlo_id" uuid NOT NULL,
	"name" text NOT NULL,
	"data" "bytea" NOT NULL,
	CONSTRAINT "monte_carlo_series_monte_carlo_id_name_pk" PRIMARY KEY("monte_carlo_id","name")
);
--> statement-breakpoint
CREATE TABLE "optimization_series" (
	"optimization_id" uuid NOT NULL,
	"name" text NOT NULL,
	"data" "bytea" NOT NULL,
	CONSTRAINT "optimization_series_optimization_id_name_pk" PRIMARY KEY("optimization_id","name")
);
--> statement-breakpoint
ALTER TABLE "monte_carlo_series" ADD CONSTRAINT "monte_carlo_series_monte_carlo_id_monte_carlos_id_fk" FOREIGN KEY ("monte_carlo_id") REFERENCES "public"."monte_carlos"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "optimization_series" ADD CONSTRAINT "optimization_series_optimization_id_optimizations_id_fk" FOREIGN KEY ("optimization_id") REFERENCES "public"."optimizations"("id") ON DELETE cascade ON UPDATE no action;