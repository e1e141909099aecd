CREATE TABLE "optimization_members" (
	"optimization_id" uuid PRIMARY KEY NOT NULL,
	"members" json NOT NULL
);
--> statement-breakpoint
ALTER TABLE "optimization_members" ADD CONSTRAINT "optimization_members_optimization_id_optimizations_id_fk" FOREIGN KEY ("optimization_id") REFERENCES "public"."optimizations"("id") ON DELETE cascade ON UPDATE no action;