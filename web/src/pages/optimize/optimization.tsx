import { getRouteApi } from "@tanstack/react-router";
import { codeOf } from "../../api.ts";
import { Failure, NotYours } from "../../parts/failure.tsx";
import { OptimizationView } from "./optimization_view.tsx";
import { useOptimization } from "./use_optimization.ts";

const route = getRouteApi("/signed-in/optimizations/$id");

/** One optimization, kept up to date while it runs. */
export function OptimizationPage() {
  const { id } = route.useParams();
  const { data, error, refetch } = useOptimization(id);
  if (data === undefined) {
    if (codeOf(error) === "OPTIMIZATION_NOT_FOUND") return <NotYours noun="optimization" to="/optimizations" />;
    if (error) return <Failure error={error} reset={() => void refetch()} />;
    return <p role="status" className="py-24 text-center text-muted">Loading the optimization …</p>;
  }
  return <OptimizationView optimization={data.optimization} />;
}
