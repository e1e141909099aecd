import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { api, type BacktestSummary } from "../../api.ts";
import { Button } from "../../parts/button.tsx";
import { formatPercent, formatTime, toneClass } from "../../parts/format.ts";
import { TRY_TAG } from "../runs/runs_search.ts";
import { settingsBelow, settingsThatDiffer } from "../runs/settings_that_differ.ts";
import { Table, type TableColumn, TALL_ROW_CLASS } from "../../parts/table.tsx";

const OFFERED = 50;
const CHOSEN_MIN = 2;
const CHOSEN_MAX = 5;
const COLUMNS: readonly TableColumn[] = [
  { label: "Choose", isText: true, width: "5rem" },
  { label: "Run", isText: true },
  { label: "Symbol", isText: true, width: "13rem" },
  { label: "Range", isText: true, width: "13rem" },
  { label: "Return", width: "7rem" },
  { label: "Made (UTC)", width: "10rem" },
];

/** The newest completed runs, of which some can be chosen. */
export function RunPicker() {
  const navigate = useNavigate();
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const { data, isPending } = useQuery(
    api.backtests.summaries.queryOptions({ status: "completed", not_tag: TRY_TAG, limit: OFFERED }),
  );
  const differing = useMemo(() => settingsThatDiffer(data?.backtests ?? []), [data]);
  const toggle = (id: string) =>
    setChosen(chosen.includes(id) ? chosen.filter((each) => each !== id) : [...chosen, id]);
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <p className="mr-auto text-muted">Choose two to five completed runs.</p>
        <Button
          kind="primary"
          disabled={chosen.length < CHOSEN_MIN}
          onClick={() => void navigate({ to: "/compare", search: { ids: chosen.join(",") } })}
        >
          Compare {chosen.length} runs
        </Button>
      </div>
      <Table
        label="Completed runs"
        columns={COLUMNS}
        minWidth="54rem"
        isLoading={isPending}
        empty="There is no completed run to compare yet."
      >
        {(data?.backtests ?? []).map((run) => {
          const isChosen = chosen.includes(run.id);
          const isFull = !isChosen && chosen.length === CHOSEN_MAX;
          const settings = differing.get(run.id) ?? "";
          return <Row key={run.id} {...{ run, settings, isChosen, isFull }} onToggle={() => toggle(run.id)} />;
        })}
      </Table>
    </>
  );
}

function Row({ run, settings, isChosen, isFull, onToggle }: {
  readonly run: BacktestSummary;
  /** In words, those that tell it from the other runs. */
  readonly settings: string;
  readonly isChosen: boolean;
  readonly isFull: boolean;
  readonly onToggle: () => void;
}) {
  const { strategy, symbol, exchange, timeframe, start_date, end_date, metrics, created_at } = run;
  const name = run.name ?? run.default_name;
  const below = settingsBelow(run, settings);
  return (
    <tr className={TALL_ROW_CLASS}>
      <td className="px-3 text-left">
        <input
          type="checkbox"
          aria-label={`${name}, ${symbol}, ${formatTime(created_at)}`}
          checked={isChosen}
          disabled={isFull}
          onChange={onToggle}
          className="block size-4 accent-accent"
        />
      </td>
      <td className="px-3 text-left">
        <span className="block truncate font-medium" title={name}>{run.name ?? strategy}</span>
        <span className="block truncate text-xs text-muted" title={below}>{below}</span>
      </td>
      <td className="truncate px-3 text-left" title={`${symbol} on ${exchange}`}>{symbol} · {timeframe}</td>
      <td className="px-3 text-left whitespace-nowrap text-muted">{start_date} – {end_date}</td>
      <td className={`px-3 ${toneClass(metrics?.total_return)}`}>{formatPercent(metrics?.total_return, true)}</td>
      <td className="px-3 whitespace-nowrap text-muted">{formatTime(created_at)}</td>
    </tr>
  );
}
