import { Menu } from "@base-ui/react/menu";
import type { PlotData } from "../../../api.ts";
import type { Timeframe } from "../../../parts/candle_timeframes.ts";
import { buttonClass } from "../../../parts/button.tsx";
import { MENU_ITEM_CLASS, MenuPanel } from "../../../parts/menu_panel.tsx";
import { type ChartMarket, panesOf, VOLUME } from "./panes.ts";
import { CLOCKS, SCALES, useChartSettings, type zonesOf } from "./chart_settings.ts";

const SCALE_LABELS = { linear: "Linear scale", log: "Log scale", percent: "Percent since the start" } as const;
const CLOCK_LABELS = {
  utc: () => "Times in UTC",
  local: (zone: string) => `Your times: ${zone}`,
  market: (zone: string) => `The market's: ${zone}`,
} as const;
/** Chooses the scale, the time zone and the panes of a run's charts, which this browser remembers. */
export function ChartMenu({ market, plots, zones, coarser }: {
  readonly market: ChartMarket | null;
  readonly plots: PlotData["plots"];
  readonly zones: ReturnType<typeof zonesOf>;
  /** The timeframes whose candles can be drawn behind the run's own. */
  readonly coarser: readonly Timeframe[];
}) {
  const [{ scale, clock, coarse, hidden, shares }, change] = useChartSettings();
  const [, ...others] = panesOf(market, plots);
  const panes = [{ key: VOLUME, title: "Volume" }, ...others];
  const clocks = CLOCKS.filter((each) => each === "utc" || zones[each] !== zones.utc);
  return (
    <Menu.Root modal={false}>
      <Menu.Trigger className={buttonClass("quiet")}>View</Menu.Trigger>
      <MenuPanel align="end">
        <Menu.RadioGroup value={scale} onValueChange={(value) => change({ scale: value })}>
          {SCALES.map((each) => <Choice key={each} value={each} label={SCALE_LABELS[each]} />)}
        </Menu.RadioGroup>
        {clocks.length > 1 && (
          <>
            <Menu.Separator className="my-1 border-t border-line" />
            <Menu.RadioGroup value={clock} onValueChange={(value) => change({ clock: value })}>
              {clocks.map((each) => <Choice key={each} value={each} label={CLOCK_LABELS[each](zones[each])} />)}
            </Menu.RadioGroup>
          </>
        )}
        {coarser.length > 0 && (
          <>
            <Menu.Separator className="my-1 border-t border-line" />
            <Menu.SubmenuRoot>
              <Menu.SubmenuTrigger className={MENU_ITEM_CLASS}>
                <span className="w-4" />
                {coarser.some((each) => each === coarse) ? `Behind them: ${coarse}` : "Longer candles behind"}
                <span aria-hidden="true" className="ml-auto">›</span>
              </Menu.SubmenuTrigger>
              <MenuPanel align="start">
                <Menu.RadioGroup
                  value={coarser.find((each) => each === coarse) ?? ""}
                  onValueChange={(value) => change({ coarse: value })}
                >
                  {["" as const, ...coarser].map((each) => <Choice key={each} value={each} label={each || "none"} />)}
                </Menu.RadioGroup>
              </MenuPanel>
            </Menu.SubmenuRoot>
          </>
        )}
        <Menu.Separator className="my-1 border-t border-line" />
        {panes.map(({ key, title }) => (
          <Menu.CheckboxItem
            key={key}
            className={MENU_ITEM_CLASS}
            checked={!hidden.includes(key)}
            onCheckedChange={(isShown) =>
              change({ hidden: isShown ? hidden.filter((each) => each !== key) : [...hidden, key] })}
          >
            <span className="w-4">
              <Menu.CheckboxItemIndicator>✓</Menu.CheckboxItemIndicator>
            </span>
            {title}
          </Menu.CheckboxItem>
        ))}
        {Object.keys(shares).length > 0 && (
          <Menu.Item
            className={MENU_ITEM_CLASS}
            onClick={() => change({ shares: {} })}
          >
            <span className="w-4" />Usual heights
          </Menu.Item>
        )}
      </MenuPanel>
    </Menu.Root>
  );
}

function Choice({ value, label }: { readonly value: string; readonly label: string }) {
  return (
    <Menu.RadioItem value={value} className={MENU_ITEM_CLASS} closeOnClick={false}>
      <span className="w-4">
        <Menu.RadioItemIndicator>✓</Menu.RadioItemIndicator>
      </span>
      {label}
    </Menu.RadioItem>
  );
}
