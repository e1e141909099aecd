import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { api, type BacktestRequest, describeError } from "../../api.ts";
import { Button } from "../../parts/button.tsx";
import { startTour } from "../../parts/tour.tsx";

/** The run that the form for a new one begins with: the sample, which every service has, and the strategy's defaults. */
const SAMPLE: BacktestRequest = {
  symbol: "DEMO",
  exchange: "SAMPLE",
  strategy: "SMA Cross",
  start_date: "2024-01-01",
  end_date: "2025-01-01",
  initial_balance: 10_000,
  parameters: { timeframe: "1h", runtime: { slug: "sma-cross" } },
};

/** In place of an empty list: a first result in one click. */
export function FirstRun() {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const submit = useMutation(api.backtests.create.mutationOptions({
    onSuccess: async (data) => {
      queries.setQueryData(api.backtests.get.queryKey({ id: data.backtest.id }), data);
      await navigate({ to: "/runs/$id", params: { id: data.backtest.id } });
      await queries.invalidateQueries({ queryKey: api.backtests.summaries.pathKey() });
    },
  }));
  return (
    <section className="mx-auto mt-16 max-w-lg rounded-lg border border-line bg-surface p-8 text-center">
      <h1 className="text-xl font-semibold">Runs</h1>
      <p className="mt-3 text-muted">
        A run replays a strategy over past candles and shows what it would have earned. Try one on the sample: moving
        averages that cross, on a year of hourly candles.
      </p>
      <div className="mt-6 flex flex-wrap justify-center gap-3">
        <Button
          kind="primary"
          className="h-10 px-5"
          disabled={submit.isPending}
          onClick={() => submit.mutate({ backtest: SAMPLE })}
        >
          {submit.isPending ? "Starting …" : "Run a first backtest"}
        </Button>
        <Button
          className="h-10 px-5"
          disabled={submit.isPending}
          onClick={() => {
            startTour();
            submit.mutate({ backtest: SAMPLE });
          }}
        >
          With a short tour
        </Button>
      </div>
      <p role="alert" className="mt-2 min-h-5 text-sm text-danger">{submit.error ? describeError(submit.error) : ""}</p>
      <p className="text-sm text-muted">
        Or <Link to="/runs/new" className="text-accent underline">choose everything yourself</Link>, or{" "}
        <Link to="/data" className="text-accent underline">begin with real markets</Link>.
      </p>
    </section>
  );
}
