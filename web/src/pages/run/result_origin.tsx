import { Link } from "@tanstack/react-router";
import type { Backtest } from "../../api.ts";
import { useReadOnly } from "../../parts/read_only.ts";

const LINK = "text-accent underline";

/** Says that candles of a result were revised since, and that it is the stored one of an equal run, where it is so. */
export function ResultOrigin({ backtest: { id, stale, reused_from } }: { readonly backtest: Backtest }) {
  const isReadOnly = useReadOnly();
  return (
    <>
      {stale && (
        <p className="border-l-4 border-warn bg-sunken px-3 py-1.5 text-sm">
          Candles of this run were revised after it. {!isReadOnly && (
            <>
              <Link to="/runs/new" search={{ from: id }} className={LINK}>Run it again</Link>{" "}
              for a result on the candles of today.
            </>
          )}
        </p>
      )}
      {reused_from !== null && (
        <p className="text-sm text-muted">
          The result is the stored one of{" "}
          <Link to="/runs/$id" params={{ id: reused_from }} className={LINK}>an equal run</Link>: nothing was computed
          again.
        </p>
      )}
    </>
  );
}
