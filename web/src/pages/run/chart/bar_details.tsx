import { useQuery } from "@tanstack/react-query";
import { api, type Order } from "../../../api.ts";
import { Button } from "../../../parts/button.tsx";
import { formatCount, formatExact, formatTime, toWords } from "../../../parts/format.ts";
import { areCut, loadFills, type RunBars } from "./run_bars.ts";
import { describeFills } from "./trade_marks.ts";

const ORDERS_MAX = 20;

/**
 * Says what a strategy saw at a bar, and what became of the orders that it placed at its close.
 *
 * @param market Of a run over many: the one whose candles are drawn.
 */
export function BarDetails({ id, data, bar, zone, market, isTraded, onClose }: {
  readonly zone: string;
  readonly id: string;
  readonly data: RunBars;
  readonly bar: number;
  readonly market: string | null;
  /** False for a benchmark that the run does not trade. */
  readonly isTraded: boolean;
  readonly onClose: () => void;
}) {
  const from = data.time[bar]!;
  const until = data.time[bar + 1] ?? Infinity;
  const page = useQuery(
    api.backtests.orders.queryOptions(
      { id, placed_from: from, limit: ORDERS_MAX + 1, ...(market === null ? {} : { instrument: market }) },
      { staleTime: Infinity, enabled: isTraded },
    ),
  );
  const { data: fills } = useQuery({
    queryKey: ["fills of a bar", id, from, until, market],
    queryFn: () => loadFills({ id, market: market ?? undefined }, from, until - 1),
    enabled: isTraded,
  });
  const filled = fills === undefined
    ? undefined
    : areCut(fills)
    ? `${formatCount(fills.fills)} times`
    : describeFills(fills.trades, data).get(bar);
  const placed = !isTraded ? [] : page.data?.orders.filter(({ placed_time }) => Date.parse(placed_time) < until);
  const saw = [
    ["close", data.close[bar]] as const,
    ...data.plots.map(({ name }, i) => [name, data.values[i]?.[bar]] as const),
  ];
  return (
    <section aria-label="Chosen bar" className="border-t border-line px-3 py-2 text-sm print:hidden">
      <div className="flex items-center justify-between gap-3">
        <h2 className="font-semibold">
          {formatTime(from, zone)} {zone}
          {data.step > 1 && (
            <span className="font-normal text-muted">: {formatCount(data.step)} candles in one bar</span>
          )}
        </h2>
        <Button kind="quiet" onClick={onClose}>Close</Button>
      </div>
      <div role="status">
        <p className="wrap-anywhere">
          <span className="text-muted">The strategy saw</span>{" "}
          {saw.map(([name, value]) => `${name} ${formatExact(value)}`).join(", ")}
        </p>
        {filled && (
          <p>
            <span className="text-muted">Filled</span> {filled}
          </p>
        )}
        {placed === undefined
          ? <p className="text-muted">{page.error ? "The orders could not be loaded." : "Loading the orders …"}</p>
          : placed.length === 0
          ? <p className="text-muted">It placed no order.</p>
          : (
            <ul aria-label="Orders placed" className="mt-1">
              {placed.slice(0, ORDERS_MAX).map((order) => <li key={order.number}>{describeOrder(order, zone)}</li>)}
            </ul>
          )}
        {placed !== undefined && placed.length > ORDERS_MAX && (
          <p className="text-muted">More orders were placed here: the tab Orders has all of them.</p>
        )}
      </div>
    </section>
  );
}

/** `Placed buy market 3: filled at 101.5 on 2024-03-01 13:00, "breakout"`. */
function describeOrder(order: Order, zone: string): string {
  const { side, type, quantity, limit_price, stop_price, status, reason, price, fill_time, tag } = order;
  const prices = [stop_price, limit_price].filter((price) => price !== null).map(formatExact).join(", limit ");
  const at = prices === "" ? "" : ` at ${prices}`;
  const fill = price === null ? "" : ` at ${formatExact(price)} on ${formatTime(fill_time, zone)}`;
  const why = reason === null ? "" : `, ${toWords(reason)}`;
  const size = quantity === null ? "" : ` ${formatExact(quantity)}`;
  return `Placed ${side} ${toWords(type)}${size}${at}: ${status}${fill}${why}${
    tag === null ? "" : `, \u201c${tag}\u201d`
  }`;
}
