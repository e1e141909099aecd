import { type RefObject, useEffect, useRef } from "react";
import { usePrinting } from "../../../theme/theme.ts";
import type { StackedChart } from "./stacked_chart.ts";

/** The element that shows a picture of the chart while the page is printed. */
export function usePaperPicture(chart: RefObject<StackedChart | null>): RefObject<HTMLDivElement | null> {
  const paper = useRef<HTMLDivElement>(null);
  const isPrinting = usePrinting();
  useEffect(() => {
    const picture = isPrinting ? chart.current?.draw() : undefined;
    if (picture === undefined) return;
    picture.style.width = "100%";
    paper.current?.append(picture);
    return () => picture.remove();
  }, [isPrinting, chart]);
  return paper;
}
