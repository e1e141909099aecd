import type { Comparison } from "../../api.ts";
import { ROW_CLASS, Table } from "../../parts/table.tsx";

/** The settings in which the runs differ. */
export function ComparedDifferences({ data: { differences, backtests } }: { readonly data: Comparison }) {
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

/** `/parameters/execution/commission` as `execution commission`. */
function nameOf(path: string): string {
  return path.replace(/^\/(parameters|result)\//, "").replaceAll("/", " ").replaceAll("_", " ")
    .replaceAll("~1", "/").replaceAll("~0", "~");
}

function show(value: unknown): string {
  if (value === null || value === undefined) return "–";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
