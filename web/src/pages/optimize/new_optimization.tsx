import { getRouteApi } from "@tanstack/react-router";
import { describeError } from "../../api.ts";
import { useStart } from "../new_run/use_start.ts";
import { OptimizationForm } from "./optimization_form.tsx";

const route = getRouteApi("/signed-in/optimizations/new");

/** A form for a new optimization. @see useStart for what it begins with. */
export function NewOptimizationPage() {
  const { from, strategy } = route.useSearch();
  const { first, held, earlier, error } = useStart(from, strategy);
  return (
    <div className="mx-auto max-w-6xl">
      <h1 className="text-xl font-semibold">New optimization</h1>
      <p className="mt-0.5 mb-3 min-h-5 text-sm text-muted">
        Run a strategy with many parameters, and see how much of the best result is luck.
      </p>
      {first === undefined
        ? (
          <p role={error ? "alert" : "status"} className="py-24 text-center text-muted">
            {error ? describeError(error) : "Loading what can be run …"}
          </p>
        )
        : <OptimizationForm key={`${from} ${strategy}`} first={first} held={held} earlier={earlier} />}
    </div>
  );
}
