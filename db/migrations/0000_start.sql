CREATE TABLE "account" (
	"id" text PRIMARY KEY NOT NULL,
	"account_id" text NOT NULL,
	"provider_id" text NOT NULL,
	"user_id" text NOT NULL,
	"access_token" text,
	"refresh_token" text,
	"id_token" text,
	"access_token_expires_at" timestamp (3) with time zone,
	"refresh_token_expires_at" timestamp (3) with time zone,
	"scope" text,
	"password" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "backtest_equity" (
	"backtest_id" uuid PRIMARY KEY NOT NULL,
	"points" integer NOT NULL,
	"data" "bytea" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "backtest_orders" (
	"backtest_id" uuid NOT NULL,
	"stretch" integer NOT NULL,
	"data" "bytea" NOT NULL,
	"tags" jsonb,
	CONSTRAINT "backtest_orders_backtest_id_stretch_pk" PRIMARY KEY("backtest_id","stretch")
);
--> statement-breakpoint
CREATE TABLE "backtest_sizes" (
	"owner_id" text PRIMARY KEY NOT NULL,
	"bytes" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "backtest_trades" (
	"backtest_id" uuid NOT NULL,
	"number" integer NOT NULL,
	"side" text NOT NULL,
	"quantity" double precision NOT NULL,
	"entry_time" timestamp (3) with time zone NOT NULL,
	"entry_price" double precision NOT NULL,
	"exit_time" timestamp (3) with time zone,
	"exit_price" double precision,
	"fees" double precision NOT NULL,
	"pnl" double precision NOT NULL,
	"return" double precision NOT NULL,
	"candles" integer NOT NULL,
	"mae" double precision NOT NULL,
	"mfe" double precision NOT NULL,
	"exit_reason" text,
	"ambiguous" boolean NOT NULL,
	"tag" text,
	CONSTRAINT "backtest_trades_backtest_id_number_pk" PRIMARY KEY("backtest_id","number")
);
--> statement-breakpoint
CREATE TABLE "backtests" (
	"id" uuid PRIMARY KEY NOT NULL,
	"owner_id" text NOT NULL,
	"symbol" text NOT NULL,
	"exchange" text NOT NULL,
	"strategy" text NOT NULL,
	"strategy_slug" text,
	"strategy_version" text,
	"start_date" date NOT NULL,
	"end_date" date NOT NULL,
	"initial_balance" double precision NOT NULL,
	"parameters" jsonb NOT NULL,
	"runtime" jsonb,
	"status" text DEFAULT 'queued' NOT NULL,
	"queue_position" integer DEFAULT 0 NOT NULL,
	"progress" real DEFAULT 0 NOT NULL,
	"partial_equity" jsonb,
	"attempts" smallint DEFAULT 0 NOT NULL,
	"error" jsonb,
	"result" jsonb,
	"size_bytes" bigint DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"started_at" timestamp (3) with time zone,
	"finished_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "candle_chunks" (
	"instrument_id" uuid NOT NULL,
	"timeframe" text NOT NULL,
	"month" date NOT NULL,
	"candles" integer NOT NULL,
	"first_time" timestamp (3) with time zone NOT NULL,
	"last_time" timestamp (3) with time zone NOT NULL,
	"sha256" text NOT NULL,
	"data" "bytea" NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "candle_chunks_instrument_id_timeframe_month_pk" PRIMARY KEY("instrument_id","timeframe","month")
);
--> statement-breakpoint
CREATE TABLE "candle_coverage" (
	"instrument_id" uuid NOT NULL,
	"timeframe" text NOT NULL,
	"start" timestamp (3) with time zone NOT NULL,
	"end" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "candle_coverage_instrument_id_timeframe_start_pk" PRIMARY KEY("instrument_id","timeframe","start")
);
--> statement-breakpoint
CREATE TABLE "idempotency_keys" (
	"owner_id" text NOT NULL,
	"key" text NOT NULL,
	"request_sha256" text NOT NULL,
	"backtest_id" uuid NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "idempotency_keys_owner_id_key_pk" PRIMARY KEY("owner_id","key")
);
--> statement-breakpoint
CREATE TABLE "ingestion_events" (
	"id" uuid PRIMARY KEY NOT NULL,
	"run_id" uuid NOT NULL,
	"type" text NOT NULL,
	"provider" text,
	"symbol" text,
	"exchange" text,
	"timeframe" text,
	"start" timestamp (3) with time zone,
	"end" timestamp (3) with time zone,
	"candles" integer,
	"message" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ingestion_runs" (
	"id" uuid PRIMARY KEY NOT NULL,
	"status" text NOT NULL,
	"trigger" text NOT NULL,
	"instruments" jsonb,
	"start_date" date,
	"end_date" date,
	"candles" integer DEFAULT 0 NOT NULL,
	"message" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"started_at" timestamp (3) with time zone,
	"finished_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "instruments" (
	"id" uuid PRIMARY KEY NOT NULL,
	"symbol" text NOT NULL,
	"exchange" text NOT NULL,
	"asset_class" text NOT NULL,
	"provider" text NOT NULL,
	"timeframe" text,
	"backfill_from" date,
	"schedule" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "instruments_symbol_exchange" UNIQUE("symbol","exchange")
);
--> statement-breakpoint
CREATE TABLE "module_checks" (
	"id" uuid PRIMARY KEY NOT NULL,
	"owner_id" text NOT NULL,
	"data" "bytea",
	"module_url" text,
	"parameters" jsonb NOT NULL,
	"lookback_candles" integer NOT NULL,
	"queue_position" integer DEFAULT 0 NOT NULL,
	"verdict" jsonb,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "modules" (
	"sha256" text PRIMARY KEY NOT NULL,
	"data" "bytea" NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "session" (
	"id" text PRIMARY KEY NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"token" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"ip_address" text,
	"user_agent" text,
	"user_id" text NOT NULL,
	"impersonated_by" text,
	CONSTRAINT "session_token_unique" UNIQUE("token")
);
--> statement-breakpoint
CREATE TABLE "slugs" (
	"slug" text PRIMARY KEY NOT NULL,
	"owner_id" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "strategies" (
	"id" uuid PRIMARY KEY NOT NULL,
	"owner_id" text NOT NULL,
	"slug" text NOT NULL,
	"name" text NOT NULL,
	"description" text NOT NULL,
	"runtime_type" text NOT NULL,
	"language" text NOT NULL,
	"default_frequency" text NOT NULL,
	"min_candles" integer NOT NULL,
	"lookback_candles" integer NOT NULL,
	"default_config" jsonb NOT NULL,
	"parameter_schema" jsonb NOT NULL,
	"is_public" boolean NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "strategies_slug_unique" UNIQUE("slug")
);
--> statement-breakpoint
CREATE TABLE "strategy_versions" (
	"strategy_id" uuid NOT NULL,
	"version" text NOT NULL,
	"runtime_config" jsonb NOT NULL,
	"sha256" text,
	"size_bytes" integer,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "strategy_versions_strategy_id_version_pk" PRIMARY KEY("strategy_id","version")
);
--> statement-breakpoint
CREATE TABLE "user" (
	"id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"email" text NOT NULL,
	"email_verified" boolean DEFAULT false NOT NULL,
	"image" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"role" text,
	"banned" boolean DEFAULT false,
	"ban_reason" text,
	"ban_expires" timestamp (3) with time zone,
	CONSTRAINT "user_email_unique" UNIQUE("email")
);
--> statement-breakpoint
CREATE TABLE "verification" (
	"id" text PRIMARY KEY NOT NULL,
	"identifier" text NOT NULL,
	"value" text NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "account" ADD CONSTRAINT "account_user_id_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."user"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "backtest_equity" ADD CONSTRAINT "backtest_equity_backtest_id_backtests_id_fk" FOREIGN KEY ("backtest_id") REFERENCES "public"."backtests"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "backtest_orders" ADD CONSTRAINT "backtest_orders_backtest_id_backtests_id_fk" FOREIGN KEY ("backtest_id") REFERENCES "public"."backtests"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "backtest_sizes" ADD CONSTRAINT "backtest_sizes_owner_id_user_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."user"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "backtest_trades" ADD CONSTRAINT "backtest_trades_backtest_id_backtests_id_fk" FOREIGN KEY ("backtest_id") REFERENCES "public"."backtests"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "backtests" ADD CONSTRAINT "backtests_owner_id_user_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."user"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "candle_chunks" ADD CONSTRAINT "candle_chunks_instrument_id_instruments_id_fk" FOREIGN KEY ("instrument_id") REFERENCES "public"."instruments"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "candle_coverage" ADD CONSTRAINT "candle_coverage_instrument_id_instruments_id_fk" FOREIGN KEY ("instrument_id") REFERENCES "public"."instruments"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "idempotency_keys" ADD CONSTRAINT "idempotency_keys_owner_id_user_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."user"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "idempotency_keys" ADD CONSTRAINT "idempotency_keys_backtest_id_backtests_id_fk" FOREIGN KEY ("backtest_id") REFERENCES "public"."backtests"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ingestion_events" ADD CONSTRAINT "ingestion_events_run_id_ingestion_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."ingestion_runs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "module_checks" ADD CONSTRAINT "module_checks_owner_id_user_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."user"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "session" ADD CONSTRAINT "session_user_id_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."user"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "strategies" ADD CONSTRAINT "strategies_owner_id_user_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."user"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "strategy_versions" ADD CONSTRAINT "strategy_versions_strategy_id_strategies_id_fk" FOREIGN KEY ("strategy_id") REFERENCES "public"."strategies"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "strategy_versions" ADD CONSTRAINT "strategy_versions_sha256_modules_sha256_fk" FOREIGN KEY ("sha256") REFERENCES "public"."modules"("sha256") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "account_user_index" ON "account" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "backtests_owner_index" ON "backtests" USING btree ("owner_id","id");--> statement-breakpoint
CREATE INDEX "backtests_slug_index" ON "backtests" USING btree ("strategy_slug") WHERE runtime is not null;--> statement-breakpoint
CREATE INDEX "backtests_queue_index" ON "backtests" USING btree ("queue_position") WHERE status = 'queued';--> statement-breakpoint
CREATE INDEX "backtests_module_index" ON "backtests" USING btree ((runtime ->> 'sha256')) WHERE runtime ->> 'sha256' is not null;--> statement-breakpoint
CREATE INDEX "backtests_owner_module_index" ON "backtests" USING btree ("owner_id",(runtime ->> 'sha256')) WHERE runtime ->> 'sha256' is not null;--> statement-breakpoint
CREATE INDEX "backtests_unended_index" ON "backtests" USING btree ("owner_id","queue_position") WHERE status in ('queued', 'running');--> statement-breakpoint
CREATE INDEX "idempotency_keys_backtest_index" ON "idempotency_keys" USING btree ("backtest_id");--> statement-breakpoint
CREATE INDEX "ingestion_events_run_index" ON "ingestion_events" USING btree ("run_id");--> statement-breakpoint
CREATE INDEX "session_user_index" ON "session" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "strategies_owner_index" ON "strategies" USING btree ("owner_id");--> statement-breakpoint
CREATE INDEX "strategies_name_index" ON "strategies" USING btree ("name");--> statement-breakpoint
CREATE INDEX "strategy_versions_module_index" ON "strategy_versions" USING btree ("sha256");--> statement-breakpoint
CREATE INDEX "verification_identifier_index" ON "verification" USING btree ("identifier");--> statement-breakpoint
-- Written by hand: what these hold is compressed already, and trying again costs time and saves nothing.
ALTER TABLE "candle_chunks" ALTER COLUMN "data" SET STORAGE EXTERNAL;--> statement-breakpoint
ALTER TABLE "backtest_equity" ALTER COLUMN "data" SET STORAGE EXTERNAL;
