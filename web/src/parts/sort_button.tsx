import type { ReactNode } from "react";
import { Tip } from "./tip.tsx";

/** The words of a column by which rows are sorted, with the direction; a click sorts or turns the order. */
export function SortButton({ label, meaning, isDown, onClick }: {
  readonly label: string;
  readonly meaning?: ReactNode;
  /** Undefined where the rows are sorted by another column. */
  readonly isDown: boolean | undefined;
  readonly onClick: () => void;
}) {
  const words = (
    <>
      {label} <span aria-hidden="true">{isDown === undefined ? "" : isDown ? "↓" : "↑"}</span>
    </>
  );
  if (meaning !== undefined) return <Tip text={meaning} onClick={onClick}>{words}</Tip>;
  return (
    <button type="button" className="font-medium whitespace-nowrap hover:text-text" onClick={onClick}>
      {words}
    </button>
  );
}

/** The value of `aria-sort` for a column. */
export function ariaSort(isDown: boolean | undefined): "none" | "ascending" | "descending" {
  return isDown === undefined ? "none" : isDown ? "descending" : "ascending";
}
