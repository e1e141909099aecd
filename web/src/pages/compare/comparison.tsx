import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { api, describeError } from "../../api.ts";
import { Compared, RUNS_MIN } from "./compared.tsx";
import { ShareButton } from "../../parts/share_button.tsx";
import { RunPicker } from "./run_picker.tsx";

const route = getRouteApi("/signed-in/compare");
const POINTS = 1_000;

/** Two to five runs side by side, from where all have begun. */
export function ComparePage() {
  const { ids = "" } = route.useSearch();
  const navigate = route.useNavigate();
  const list = ids.split(",").filter((id) => id !== "");
  const isEnough = list.length >= RUNS_MIN;
  const { data, error, isPending } = useQuery(
    api.backtests.compare.queryOptions({ ids: list, points: POINTS }, {
      enabled: isEnough,
      placeholderData: keepPreviousData,
      staleTime: Infinity,
    }),
  );
  return (
    <div className="flex flex-col gap-3">
      <div className="flex items-center justify-between gap-3">
        <h1 className="text-xl font-semibold">Compare</h1>
        {data !== undefined && isEnough && (
          <ShareButton subject={{ backtest_ids: data.backtests.map((each) => each.id) }} noun="comparison" />
        )}
      </div>
      {!isEnough
        ? <RunPicker />
        : error
        ? <Refusal text={describeError(error)} />
        : isPending || data === undefined
        ? <p role="status" className="py-24 text-center text-muted">Loading the runs …</p>
        : (
          <Compared
            data={data}
            leave={(id) => void navigate({ search: { ids: list.filter((each) => each !== id).join(",") } })}
          />
        )}
    </div>
  );
}

function Refusal({ text }: { readonly text: string }) {
  return (
    <div role="alert" className="rounded-lg border border-line bg-surface px-4 py-12 text-center text-muted">
      <p className="break-words">{text}</p>
      <Link to="/compare" search={{}} className="mt-3 inline-block text-accent underline">Choose other runs</Link>
    </div>
  );
}
