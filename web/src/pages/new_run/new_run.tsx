import { getRouteApi } from "@tanstack/react-router";
import { describeError } from "../../api.ts";
import { NewRunForm } from "./new_run_form.tsx";
import { useStart } from "./use_start.ts";

const route = getRouteApi("/signed-in/runs/new");

/** A form for a new run, or for an earlier one with changes. */
export function NewRunPage() {
  const { from, strategy } = route.useSearch();
  const { first, held, earlier, note, error } = useStart(from, strategy);
  return (
    <div className="mx-auto max-w-6xl">
      <h1 className="text-xl font-semibold">{from === undefined ? "New run" : "Run again with changes"}</h1>
      <p className="mt-0.5 mb-3 min-h-5 text-sm break-words text-muted">
        {note ?? "Replay a strategy over past candles. Everything is filled in for a first run on the sample."}
      </p>
      {first === undefined
        ? (
          <p role={error ? "alert" : "status"} className="py-24 text-center text-muted">
            {error ? describeError(error) : "Loading what can be run …"}
          </p>
        )
        : <NewRunForm key={`${from} ${strategy}`} first={first} held={held} earlier={earlier} />}
    </div>
  );
}
