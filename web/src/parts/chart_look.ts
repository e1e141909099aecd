import type { ChartOptions, DeepPartial, UTCTimestamp } from "lightweight-charts";
import { formatTime } from "./format.ts";
import { readColor } from "../theme/theme.ts";

/** The options that all charts share, in the colours of the palette that is shown. */
export function chartLook(container: HTMLElement): DeepPartial<ChartOptions> {
  const [text, muted, line, surface] = ["text", "muted", "line", "surface"].map(readColor);
  return {
    autoSize: true,
    layout: {
      attributionLogo: false,
      fontFamily: getComputedStyle(container).fontFamily,
      fontSize: 11,
      background: { color: surface! },
      textColor: muted!,
      panes: { separatorColor: line!, separatorHoverColor: line! },
    },
    grid: { vertLines: { color: line! }, horzLines: { color: line! } },
    crosshair: { mode: 0, vertLine: { labelBackgroundColor: text! }, horzLine: { labelBackgroundColor: text! } },
    rightPriceScale: { borderColor: line!, entireTextOnly: true },
    // Its other options would move the view when they are applied again.
    timeScale: { borderColor: line! },
    localization: { locale: "en-US" },
  };
}

/** The options of the time scale when a chart is made. */
export const TIME_SCALE = { timeVisible: true, secondsVisible: false, minBarSpacing: 0.2, rightOffset: 2 } as const;

/** The parts of a time on the axis, by the library's kinds of ticks: year, month, day, time. */
const TICKS: readonly Intl.DateTimeFormatOptions[] = [
  { year: "numeric" },
  { month: "short" },
  { day: "numeric" },
  { hour: "2-digit", minute: "2-digit", hourCycle: "h23" },
];

/** The times of a chart in a time zone. @param timeZone IANA name. */
export function timeLook(timeZone: string): DeepPartial<ChartOptions> {
  const formats = TICKS.map((parts) => new Intl.DateTimeFormat("en-US", { ...parts, timeZone }));
  return {
    localization: { timeFormatter: (time: number) => formatTime(time * 1000, timeZone) },
    timeScale: { tickMarkFormatter: (time: number, kind: number) => formats[kind]?.format(time * 1000) ?? null },
  };
}

/** The colours of candles that rise and fall. */
export function candleLook() {
  const [gain, loss, surface] = ["gain", "loss", "surface"].map(readColor);
  return {
    ...{ upColor: surface!, downColor: loss!, borderUpColor: gain!, borderDownColor: loss! },
    ...{ wickUpColor: gain!, wickDownColor: loss! },
  };
}

/** @param ms Since 1970. */
export function toChartTime(ms: number): UTCTimestamp {
  return ms / 1000 as UTCTimestamp;
}

/** A colour such as `rgb(1, 2, 3)` with an opacity. */
export function fade(color: string, opacity: number): string {
  return color.replace(/^rgb\((.*)\)$/, `rgba($1, ${opacity})`);
}
