import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { api, client, describeError } from "../../api.ts";
import { Button } from "../../parts/button.tsx";
import { formatCount } from "../../parts/format.ts";
import { DAY_MS } from "../../parts/scale.ts";

const DAYS = 90;
/** Markets of the providers that ask for no key. */
const MARKETS = [
  { symbol: "BTCUSDT", exchange: "BINANCE", assetClass: "crypto" },
  { symbol: "ETHUSDT", exchange: "BINANCE", assetClass: "crypto" },
  { symbol: "EURUSD", exchange: "DUKASCOPY", assetClass: "forex" },
] as const;

const LOOK_MS = 1_000;

type Market = (typeof MARKETS)[number];

/** Offers the candles of real markets where the archive has the sample alone. */
export function RealMarkets() {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const fetching = useMutation({
    // A market that is asked for is fetched and kept.
    mutationFn: ({ symbol, exchange, assetClass }: Market) =>
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
      <div className="mt-1 min-h-5 text-sm">
        <p role="status" className="text-muted">{fetching.isPending && <Arrived market={fetching.variables} />}</p>
        <p role="alert" className="wrap-anywhere text-danger">
          {fetching.error && `The provider was not reached or refused: ${describeError(fetching.error)}`}
        </p>
        {fetching.error && (
          <p>The candles so far are kept. Try again in a minute, or take a market of another provider.</p>
        )}
      </div>
    </section>
  );
}

/** The candles of a market that have arrived so far. */
function Arrived({ market: { symbol, exchange } }: { readonly market: Market }) {
  const { data } = useQuery(
    api.marketData.instruments.queryOptions({ search: symbol }, { refetchInterval: LOOK_MS, gcTime: 0 }),
  );
  const held = data?.instruments.find((each) => each.symbol === symbol && each.exchange === exchange);
  return `Fetching ${symbol} of ${exchange}: ${formatCount(held?.candles ?? 0)} candles so far.`;
}

function dateOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
