import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, client, describeError, type Order, pagesOf } from "../../api.ts";
import { Choice } from "../../parts/choice.tsx";
import { formatCount, formatExact, formatTime, shortZone, toWords } from "../../parts/format.ts";
import { MoreButton } from "../../parts/more_button.tsx";

const PAGE = 200;
const FATES = ["all", "filled", "rejected", "cancelled", "expired", "working"] as const;
/** @param zone IANA name, of the times. */
const headings = (zone: string) =>
  ["#", `Placed (${zone})`, "Order", "Quantity", "Limit", "Stop", "Fate", "Price", `Filled (${zone})`] as const;
const TONES: Readonly<Record<Order["status"], string>> = {
  filled: "",
  working: "text-muted",
  cancelled: "text-muted",
  expired: "text-muted",
  rejected: "text-danger",
};

/** Every order with its fate and the reason for it. @param zone IANA name, of the times. */
export function Orders({ id, zone }: { readonly id: string; readonly zone: string }) {
  const [fate, setFate] = useState<(typeof FATES)[number]>("all");
  const list = useInfiniteQuery(
    pagesOf(
      [...api.backtests.orders.pathKey(), id],
      (cursor) => client.backtests.orders.query({ id, limit: PAGE, ...cursor }),
    ),
  );
  const { data, error, hasNextPage } = list;
  const orders = data?.pages.flatMap((page) => page.orders) ?? [];
  const shown = orders.filter(({ status }) => fate === "all" || status === fate);
  if (data === undefined) {
    return (
      <p role="status" className="p-8 text-center text-muted">
        {error ? describeError(error) : "Loading the orders …"}
      </p>
    );
  }
  if (orders.length === 0) {
    return <p className="p-8 text-center text-muted">The strategy placed no order.</p>;
  }
  return (
    <>
      <div className="mb-2 flex flex-wrap items-center gap-3 text-sm">
        <Choice label="Fate" values={FATES} value={fate} onChange={setFate} />
        <p className="text-muted" role="status">
          {formatCount(shown.length)} of {formatCount(orders.length)} orders{hasNextPage ? " loaded" : ""}
        </p>
        <MoreButton pages={list} label="Load more" />
      </div>
      <div tabIndex={0} role="region" aria-label="Orders" className="max-h-[32rem] overflow-auto">
        <table className="w-full min-w-[56rem] text-right text-sm">
          <thead className="sticky top-0 bg-surface text-xs text-muted">
            <tr>
              {headings(shortZone(zone)).map((heading) => (
                <th
                  key={heading}
                  scope="col"
                  className={`border-b border-line px-2 py-1.5 font-medium ${
                    heading === "Order" || heading === "Fate" ? "text-left" : ""
                  }`}
                >
                  {heading}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>{shown.map((order) => <OrderRow key={order.number} order={order} zone={zone} />)}</tbody>
        </table>
      </div>
    </>
  );
}

function OrderRow({ order, zone }: { readonly order: Order; readonly zone: string }) {
  const { number, placed_time, side, type, quantity, limit_price, stop_price, status, reason, price, fill_time, tag } =
    order;
  return (
    <tr className="border-b border-line/60">
      <td className="px-2 py-1">{formatCount(number)}</td>
      <td className="px-2 whitespace-nowrap">{formatTime(placed_time, zone)}</td>
      <td className="px-2 text-left">{side} {toWords(type)}{tag === null ? "" : ` · ${tag}`}</td>
      <td className="px-2">{formatExact(quantity)}</td>
      <td className="px-2">{formatExact(limit_price)}</td>
      <td className="px-2">{formatExact(stop_price)}</td>
      <td className={`px-2 text-left ${TONES[status]}`}>{status}{reason === null ? "" : `: ${toWords(reason)}`}</td>
      <td className="px-2">{formatExact(price)}</td>
      <td className="px-2 whitespace-nowrap">{formatTime(fill_time, zone)}</td>
    </tr>
  );
}
