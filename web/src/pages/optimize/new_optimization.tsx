import { getRouteApi } from "@tanstack/react-router";
import { StartPage } from "../new_run/start_page.tsx";
import { OptimizationForm } from "./optimization_form.tsx";

const route = getRouteApi("/signed-in/optimizations/new");

/** A form for a new optimization. @see useStart for what it begins with. */
export function NewOptimizationPage() {
  return (
    <StartPage
      title="New optimization"
      note="Run a strategy with many parameters, and see how much of the best result is luck."
      search={route.useSearch()}
      form={OptimizationForm}
    />
  );
}
