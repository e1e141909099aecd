-- One statement, so that the table is written anew once.
ALTER TABLE "backtests"
	ADD COLUMN "total_return" double precision GENERATED ALWAYS AS ((result -> 'metrics' ->> 'total_return')::float8) STORED,
	ADD COLUMN "cagr" double precision GENERATED ALWAYS AS ((result -> 'metrics' ->> 'cagr')::float8) STORED,
	ADD COLUMN "sharpe" double precision GENERATED ALWAYS AS ((result -> 'metrics' ->> 'sharpe')::float8) STORED,
	ADD COLUMN "max_drawdown" double precision GENERATED ALWAYS AS ((result -> 'metrics' ->> 'max_drawdown')::float8) STORED,
	ADD COLUMN "trades" double precision GENERATED ALWAYS AS ((result -> 'metrics' ->> 'trades')::float8) STORED,
	ADD COLUMN "win_rate" double precision GENERATED ALWAYS AS ((result -> 'metrics' ->> 'win_rate')::float8) STORED,
	ADD COLUMN "profit_factor" double precision GENERATED ALWAYS AS ((result -> 'metrics' ->> 'profit_factor')::float8) STORED,
	ADD COLUMN "sparkline" double precision[],
	ADD COLUMN "name" text,
	ADD COLUMN "tags" text[] DEFAULT '{}' NOT NULL,
	ADD COLUMN "notes" text,
	ADD COLUMN "star" boolean DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX "backtests_return_index" ON "backtests" USING btree ("owner_id","total_return","id");--> statement-breakpoint
CREATE INDEX "backtests_sharpe_index" ON "backtests" USING btree ("owner_id","sharpe","id");--> statement-breakpoint
CREATE INDEX "backtests_drawdown_index" ON "backtests" USING btree ("owner_id","max_drawdown","id");--> statement-breakpoint
CREATE INDEX "backtests_status_index" ON "backtests" USING btree ("owner_id","status","id");--> statement-breakpoint
CREATE INDEX "backtests_symbol_index" ON "backtests" USING btree ("owner_id","symbol","id");--> statement-breakpoint
CREATE INDEX "backtests_strategy_index" ON "backtests" USING btree ("owner_id","strategy","id");--> statement-breakpoint
CREATE INDEX "backtests_tags_index" ON "backtests" USING gin ("tags") WHERE tags <> '{}';--> statement-breakpoint
CREATE INDEX "backtests_star_index" ON "backtests" USING btree ("owner_id","id") WHERE star;