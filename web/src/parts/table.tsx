import type { ReactNode } from "react";

/** A column of a table; numbers stand at the right, texts at the left. */
export interface TableColumn {
  readonly label: string;
  /** A CSS length; columns without one share the rest. */
  readonly width?: string;
  readonly isText?: true;
}

const PLACEHOLDERS = 6;

/**
 * A table that scrolls by itself where the page is narrower than it.
 *
 * @param label Names it for screen readers.
 * @param minWidth A CSS length.
 * @param empty Shown instead of rows where there are none.
 * @param isLoading Shows placeholders of the rows' height.
 */
export function Table({ label, columns, minWidth, isLoading = false, empty, children }: {
  readonly label: string;
  readonly columns: readonly TableColumn[];
  readonly minWidth: string;
  readonly isLoading?: boolean;
  readonly empty?: ReactNode;
  readonly children: readonly ReactNode[];
}) {
  const isEmpty = !isLoading && children.length === 0 && empty !== undefined;
  return (
    <div
      tabIndex={0}
      role="region"
      aria-label={label}
      aria-busy={isLoading}
      className="overflow-x-auto rounded-lg border border-line bg-surface"
    >
      {isEmpty
        ? <div className="px-4 py-10 text-center text-muted">{empty}</div>
        : (
          <table className="w-full table-fixed text-right text-sm" style={{ minWidth }}>
            <colgroup>
              {columns.map(({ label, width }) => <col key={label} style={width === undefined ? {} : { width }} />)}
            </colgroup>
            <thead className="text-xs text-muted">
              <tr>
                {columns.map(({ label, isText }) => (
                  <th
                    key={label}
                    scope="col"
                    className={`border-b border-line px-3 py-2 font-medium ${isText ? "text-left" : ""}`}
                  >
                    {label}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>{isLoading ? <Placeholders columns={columns.length} /> : children}</tbody>
          </table>
        )}
    </div>
  );
}

/** The look of a table's row. */
export const ROW_CLASS = "h-9 border-b border-line/60 last:border-0";

function Placeholders({ columns }: { readonly columns: number }) {
  return Array.from({ length: PLACEHOLDERS }, (_, i) => (
    <tr key={i} className={ROW_CLASS}>
      <td colSpan={columns} className="px-3">
        <div className="h-3 w-full rounded bg-sunken" />
      </td>
    </tr>
  ));
}
