import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { api, client, describeError } from "../../api.ts";
import { Button } from "../../parts/button.tsx";
import { DAY_MS } from "../../parts/scale.ts";

const DAYS = 90;
/** Markets of the providers that ask for no key. */
const MARKETS = [
  { symbol: "BTCUSDT", exchange: "BINANCE", assetClass: "crypto" },
  { symbol: "ETHUSDT", exchange: "BINANCE", assetClass: "crypto" },
  { symbol: "EURUSD", exchange: "DUKASCOPY", assetClass: "forex" },
] as const;

/** Offers the candles of real markets where the archive has the sample alone. */
export function RealMarkets() {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const fetching = useMutation({
    // A market that is asked for is fetched and kept.
    mutationFn: ({ symbol, exchange, assetClass }: (typeof MARKETS)[number]) =>
      client.marketData.ticks.query({
        ...{ symbol, exchange, assetClass, provider: "provider_a", timeframe: "1h", limit: 1 },
        startDate: dateOf(Date.now() - DAYS * DAY_MS),
        endDate: dateOf(Date.now()),
      }),
    onSuccess: async (_, { symbol, exchange }) => {
      await queries.invalidateQueries({ queryKey: api.marketData.pathKey() });
      await navigate({ to: "/data/$exchange/$symbol", params: { exchange, symbol } });
    },
  });
  return (
    <section aria-label="Real markets" className="rounded-lg border border-line bg-surface p-4">
      <p className="text-sm">
        These markets are invented. Real ones need no key: the last {DAYS} days, in hours.
      </p>
      <div className="mt-2 flex flex-wrap items-center gap-2">
        {MARKETS.map((market) => (
          <Button
            key={market.symbol}
            disabled={fetching.isPending}
            onClick={() => fetching.mutate(market)}
          >
            {fetching.isPending && fetching.variables.symbol === market.symbol
              ? "Fetching …"
              : `Fetch ${market.symbol}`}
          </Button>
        ))}
      </div>
      <p role="alert" className="mt-1 min-h-5 truncate text-sm text-danger" title={fetching.error?.message}>
        {fetching.error && `The provider was not reached or refused: ${describeError(fetching.error)}`}
      </p>
    </section>
  );
}

function dateOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
