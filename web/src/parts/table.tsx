import type { ReactNode } from "react";
import { Tip } from "./tip.tsx";
import { ariaSort, SortButton } from "./sort_button.tsx";

/** A column of a table; numbers stand at the right, texts at the left. */
export interface TableColumn {
  readonly label: string;
  /** A CSS length; columns without one share the rest. */
  readonly width?: string;
  readonly isText?: true;
  /** Shown while the heading has the pointer or the focus. */
  readonly meaning?: ReactNode;
  /** Classes of the column on a phone: `WIDE_ONLY`, or a width such as `max-sm:w-36!`. */
  readonly onPhone?: string;
  /** The rows can be sorted by the column, which `onSort` is told; `isDown` is undefined while they are sorted by another one. */
  readonly sort?: { readonly isDown: boolean | undefined; readonly onSort: () => void };
}

/** Hides a column, and each of its cells, on a phone. */
export const WIDE_ONLY = "max-sm:hidden";

const PLACEHOLDERS = 6;

/**
 * A table that scrolls by itself where the page is narrower than it.
 *
 * @param label Names it for screen readers.
 * @param minWidth A CSS length; a table that hides columns on a phone fits there and needs none.
 * @param rowClass The look of a placeholder, which is that of the rows.
 * @param isLoading Shows placeholders.
 * @param isStale Dims the rows, which are those of an earlier search.
 * @param empty Shown instead of rows where there are none.
 */
export function Table(
  { label, columns, minWidth, rowClass = ROW_CLASS, isLoading = false, isStale = false, empty, children }: {
    readonly label: string;
    readonly columns: readonly TableColumn[];
    readonly minWidth: string;
    readonly rowClass?: string;
    readonly isLoading?: boolean;
    readonly isStale?: boolean;
    readonly empty?: ReactNode;
    readonly children: readonly ReactNode[];
  },
) {
  const isEmpty = !isLoading && children.length === 0 && empty !== undefined;
  const fitsPhone = columns.some(({ onPhone }) => onPhone === WIDE_ONLY);
  return (
    <div
      tabIndex={0}
      role="region"
      aria-label={label}
      aria-busy={isLoading || isStale}
      className={`overflow-x-auto rounded-lg border border-line bg-surface ${isStale ? "opacity-70" : ""}`}
    >
      {isEmpty ? <div className="px-4 py-10 text-center text-muted">{empty}</div> : (
        <table
          className={`w-full table-fixed text-right text-sm ${fitsPhone ? "max-sm:min-w-0!" : ""}`}
          style={{ minWidth }}
        >
          <colgroup>
            {columns.map(({ label, width, onPhone }) => (
              <col key={label} className={onPhone} style={width === undefined ? {} : { width }} />
            ))}
          </colgroup>
          <thead className="text-xs text-muted">
            <tr>
              {columns.map((column) => <Heading key={column.label} column={column} />)}
            </tr>
          </thead>
          <tbody>{isLoading ? <Placeholders columns={columns.length} rowClass={rowClass} /> : children}</tbody>
        </table>
      )}
    </div>
  );
}

function Heading({ column: { label, isText, meaning, onPhone = "", sort } }: { readonly column: TableColumn }) {
  return (
    <th
      scope="col"
      aria-sort={sort && ariaSort(sort.isDown)}
      className={`border-b border-line px-3 py-2 font-medium ${isText ? "text-left" : ""} ${onPhone}`}
    >
      {sort !== undefined
        ? <SortButton label={label} meaning={meaning} isDown={sort.isDown} onClick={sort.onSort} />
        : meaning !== undefined
        ? <Tip text={meaning}>{label}</Tip>
        : label}
    </th>
  );
}

const ROW_LINE = "border-b border-line/60 last:border-0";

/** The look of a table's row. */
export const ROW_CLASS = `h-9 ${ROW_LINE}`;

/** The look of a row of two lines. */
export const TALL_ROW_CLASS = `h-12 ${ROW_LINE}`;

function Placeholders({ columns, rowClass }: { readonly columns: number; readonly rowClass: string }) {
  return Array.from({ length: PLACEHOLDERS }, (_, i) => (
    <tr key={i} className={rowClass}>
      <td colSpan={columns} className="px-3">
        <div className="h-3 w-full rounded bg-sunken" />
      </td>
    </tr>
  ));
}
