import type { ReactNode } from "react";
import type { Backtest } from "../../../api.ts";
import { Button } from "../../../parts/button.tsx";
import { Choice } from "../../../parts/choice.tsx";
import { formatCount, formatDate, formatExact, formatMoney, formatPercent } from "../../../parts/format.ts";
import { Legend } from "../../../parts/legend.tsx";
import type { RunBars } from "./run_bars.ts";
import { ChartMenu } from "./chart_menu.tsx";
import { coarserThan, type zonesOf } from "./chart_settings.ts";
import type { ChartMarket } from "./panes.ts";
import { PlotLegend } from "./plot_legend.tsx";

type Run = Pick<Backtest, "symbol" | "exchange" | "parameters" | "result">;

/** The values of a bar above the charts, and what can be done with the charts. */
export function ChartHeader({ backtest, shown, market, chooseMarket, bar, sentence, zone, zones, ...props }: {
  readonly backtest: Run;
  /** Null in a run over one market. */
  readonly shown: ChartMarket | null;
  readonly market: string | undefined;
  readonly chooseMarket: ((market: string) => void) | undefined;
  readonly bar: { readonly data: RunBars; readonly bar: number };
  /** The fills of the bar, in words. */
  readonly sentence: string | undefined;
  readonly zone: string;
  readonly zones: ReturnType<typeof zonesOf>;
  readonly isLarge: boolean;
  readonly enlarge: (isLarge: boolean) => void;
  readonly showAll: () => void;
}) {
  const { isLarge, enlarge, showAll } = props;
  const isPortfolio = shown !== null;
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-1 border-b border-line px-3 py-1.5 max-sm:gap-x-2">
      {isPortfolio && chooseMarket !== undefined && (
        <Choice
          label="Candles of"
          isBareOnPhone
          values={["", ...(backtest.result?.portfolio?.contributions ?? []).map(({ instrument }) => instrument)]}
          labelOf={(each) => labelMarket(backtest, each)}
          value={market ?? ""}
          onChange={chooseMarket}
        />
      )}
      <Strip label="Values of the bar">
        <BarValues {...bar} zone={zone} isPortfolio={isPortfolio} />
      </Strip>
      <div className="ml-auto flex items-center gap-1 max-sm:*:px-1.5 print:hidden">
        <Button kind="quiet" onClick={showAll}>Whole run</Button>
        <ChartMenu market={shown} plots={bar.data.plots} zones={zones} coarser={coarserThan(backtest)} />
        <Button kind="quiet" aria-pressed={isLarge} onClick={() => enlarge(!isLarge)}>
          {isLarge ? "Back to the page" : "Enlarge"}
        </Button>
      </div>
      <p className="w-full min-h-4 text-xs text-muted max-sm:order-1 max-sm:truncate print:hidden">{sentence}</p>
      {bar.data.plots.length > 0 && (
        <Strip label="Values of the plots">
          <PlotLegend plots={bar.data.plots} values={bar.data.values} bar={bar.bar} />
        </Strip>
      )}
    </div>
  );
}

/** Values in a line that a phone scrolls sideways. Elsewhere they stand among the other parts of the header. */
function Strip({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <div
      role="group"
      aria-label={label}
      tabIndex={0}
      className="contents max-sm:order-1 max-sm:block max-sm:w-full max-sm:overflow-x-auto max-sm:whitespace-nowrap max-sm:[&_dl]:flex-nowrap max-sm:[&_div]:shrink-0"
    >
      {children}
    </div>
  );
}

/** A market with its currency, where there are several. */
function labelMarket({ symbol, exchange, result }: Run, market: string): string {
  if (market === "") return `Benchmark ${symbol}@${exchange}`;
  const currency = result?.portfolio?.contributions.find(({ instrument }) => instrument === market)?.currency;
  return currency === undefined ? market : `${market}, ${currency}`;
}

/** The values of the bar under the pointer, or of the last one. */
function BarValues({ data, bar, zone, isPortfolio }: {
  readonly data: RunBars;
  readonly bar: number;
  readonly zone: string;
  readonly isPortfolio: boolean;
}) {
  const items: readonly (readonly [label: string, value: string])[] = [
    ["O", formatExact(data.open[bar])],
    ["H", formatExact(data.high[bar])],
    ["L", formatExact(data.low[bar])],
    ["C", formatExact(data.close[bar])],
    ["V", formatExact(data.volume[bar])],
    ["Equity", formatMoney(data.equity[bar])],
    ["Buy & hold", formatMoney(data.buy_hold[bar])],
    ["Drawdown", formatPercent(data.drawdown[bar])],
    isPortfolio ? ["Net exposure", formatPercent(data.position[bar])] : ["Position", formatExact(data.position[bar])],
  ];
  return (
    <div className="flex flex-wrap gap-x-3 text-xs max-sm:flex-nowrap">
      <Legend time={data.time[bar] ?? null} zone={zone} items={items} />
    </div>
  );
}

/** The stretch in view, the maker of the charts, and the fills in view that are too many to be drawn. */
export function ChartNote({ fromMs, toMs, fills, areDrawn, zone }: {
  readonly fromMs: number;
  readonly toMs: number;
  readonly fills: number;
  readonly areDrawn: boolean;
  readonly zone: string;
}) {
  return (
    <p className="flex flex-wrap justify-between gap-x-4 border-t border-line px-3 py-1 text-2xs text-muted">
      <span>
        <span>{formatDate(fromMs)} to {formatDate(toMs)}</span>. Times are {zone}. Charts by{" "}
        <a className="underline" href="https://www.tradingview.com/" rel="noreferrer" target="_blank">TradingView</a>
        {" "}
        Lightweight Charts™.
      </span>
      <span className="min-h-4 print:hidden">
        {areDrawn ? "" : `${formatCount(fills)} fills in view: zoom in to see them`}
      </span>
    </p>
  );
}
