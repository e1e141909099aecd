import { useQuery } from "@tanstack/react-query";
import { api } from "../../api.ts";
import { toneClass } from "../../parts/format.ts";
import { findMetric, formatMetricValue, useMetrics } from "../../parts/metric_value.ts";
import { ROW_CLASS, Table } from "../../parts/table.tsx";
import { MetricName } from "./metric_name.tsx";

const COLUMNS = [{ label: "Metric", isText: true }, { label: "Long", width: "10rem" }, {
  label: "Short",
  width: "10rem",
}] as const;

/** The figures of long and of short trades beside each other. */
export function Sides({ id }: { readonly id: string }) {
  const definitions = useMetrics();
  const { data, isPending } = useQuery(api.backtests.sides.queryOptions({ id }, { staleTime: Infinity }));
  const short = new Map(data?.short.map(({ name, value }) => [name, value] as const));
  return (
    <section className="mb-5 max-w-3xl">
      <h2 className="mb-1 text-sm font-semibold">Long and short</h2>
      <Table label="Long and short" columns={COLUMNS} minWidth="24rem" isLoading={isPending}>
        {(data?.long ?? []).map(({ name, value }) => {
          const shown = findMetric(definitions, name);
          const metric = definitions.find((each) => each.name === name);
          return (
            <tr key={name} className={ROW_CLASS}>
              <td className="px-3 text-left">{metric === undefined ? shown.label : <MetricName metric={metric} />}</td>
              {[value, short.get(name) ?? null].map((each, side) => (
                <td key={side} className={`px-3 ${shown.isSigned ? toneClass(each) : ""}`}>
                  {formatMetricValue(shown, each)}
                </td>
              ))}
            </tr>
          );
        })}
      </Table>
    </section>
  );
}
