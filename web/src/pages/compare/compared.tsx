import { Link } from "@tanstack/react-router";
import type { Comparison } from "../../api.ts";
import { formatMoney } from "../../parts/format.ts";
import { useReadOnly } from "../../parts/read_only.ts";
import { ComparedMetrics } from "./compared_metrics.tsx";
import { CurvesCard } from "./curves_card.tsx";
import { Swatch } from "./swatch.tsx";
import { ROW_CLASS, Table } from "../../parts/table.tsx";

/** Fewer runs are no comparison. */
export const RUNS_MIN = 2;

/** Runs side by side. @param leave Leaves one out; absent where there is no choice. */
export function Compared({ data, leave }: { readonly data: Comparison; readonly leave?: (id: string) => void }) {
  return (
    <>
      <RunList data={data} leave={leave} />
      <CurvesCard curves={data.curves} />
      <ComparedMetrics data={data} />
      <ComparedDifferences data={data} />
    </>
  );
}

/** The runs with the marks of their curves. */
function RunList({ data: { backtests, differences }, leave }: {
  readonly data: Comparison;
  readonly leave: ((id: string) => void) | undefined;
}) {
  const isReadOnly = useReadOnly();
  return (
    <ul aria-label="Runs" className="grid gap-2 md:grid-cols-2 xl:grid-cols-3">
      {backtests.map((
        { id, default_name, name, symbol, exchange, timeframe, start_date, end_date, initial_balance },
        i,
      ) => (
        <li key={id} className="flex min-w-0 items-start gap-2 rounded-lg border border-line bg-surface px-3 py-2">
          <Swatch index={i} />
          <div className="min-w-0 grow">
            {isReadOnly
              ? <p className="truncate font-medium" title={name ?? default_name}>{name ?? default_name}</p>
              : (
                <Link
                  to="/runs/$id"
                  params={{ id }}
                  title={name ?? default_name}
                  className="block truncate font-medium hover:underline"
                >
                  {name ?? default_name}
                </Link>
              )}
            <p className="truncate text-sm text-muted" title={`${symbol} on ${exchange}`}>
              {symbol} {exchange} · {timeframe} · {formatMoney(initial_balance)}
            </p>
            <p className="text-sm text-muted">{start_date} to {end_date}</p>
            <p className="line-clamp-2 text-sm wrap-anywhere">{settingsOf(differences, i, name ?? default_name)}</p>
          </div>
          {leave !== undefined && backtests.length > RUNS_MIN && (
            <button
              type="button"
              aria-label={`Leave out run ${i + 1}`}
              onClick={() => leave(id)}
              className="size-6 rounded-md text-muted hover:bg-sunken hover:text-text"
            >
              ✕
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}

/** The settings in which the runs differ. */
function ComparedDifferences({ data: { differences, backtests } }: { readonly data: Comparison }) {
  const columns = [
    { label: "Setting", isText: true, width: "14rem" } as const,
    ...backtests.map((_, i) => ({ label: `Run ${i + 1}` })),
  ];
  return (
    <section>
      <h2 className="mb-2 text-lg font-semibold">Differences</h2>
      <Table
        label="Differences"
        columns={columns}
        minWidth={`${14 + 9 * backtests.length}rem`}
        empty="All settings of these runs are the same."
      >
        {differences.map(({ path, values }) => (
          <tr key={path} className={ROW_CLASS}>
            <td className="px-3 py-1.5 text-left break-words">{nameOf(path)}</td>
            {values.map((value, i) => (
              <td key={i} className="truncate px-3 py-1.5" title={show(value)}>{show(value)}</td>
            ))}
          </tr>
        ))}
      </Table>
    </section>
  );
}

/**
 * The settings that a run has, that differ from the others' and that its name does not say, in words: `fast 5, slow 30`. Which code ran is
 * in the table of differences.
 */
function settingsOf(differences: Comparison["differences"], i: number, name: string): string {
  const own = differences.filter(({ path, values }) =>
    path.startsWith("/parameters/") && !path.startsWith("/parameters/runtime") && (values[i] ?? null) !== null
  );
  return own.map(({ path, values }) => `${nameOf(path)} ${show(values[i])}`).filter((words) => !name.includes(words))
    .join(", ");
}

/** `/parameters/execution/commission` as `execution commission`. */
function nameOf(path: string): string {
  return path.replace(/^\/(parameters|result)\//, "").replaceAll("/", " ").replaceAll("_", " ")
    .replaceAll("~1", "/").replaceAll("~0", "~");
}

function show(value: unknown): string {
  if (value === null || value === undefined) return "–";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
