ALTER TABLE "instruments" ADD COLUMN "chunks_version" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
-- Triggers, since processes of an older version write chunks, too, until an upgrade is complete.
CREATE FUNCTION "raise_chunks_version"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  UPDATE "instruments" SET "chunks_version" = "chunks_version" + 1 WHERE "id" IN (SELECT "instrument_id" FROM "changed");
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE TRIGGER "chunks_inserted" AFTER INSERT ON "candle_chunks" REFERENCING NEW TABLE AS "changed" FOR EACH STATEMENT EXECUTE FUNCTION "raise_chunks_version"();--> statement-breakpoint
CREATE TRIGGER "chunks_updated" AFTER UPDATE ON "candle_chunks" REFERENCING NEW TABLE AS "changed" FOR EACH STATEMENT EXECUTE FUNCTION "raise_chunks_version"();--> statement-breakpoint
CREATE TRIGGER "chunks_deleted" AFTER DELETE ON "candle_chunks" REFERENCING OLD TABLE AS "changed" FOR EACH STATEMENT EXECUTE FUNCTION "raise_chunks_version"();
