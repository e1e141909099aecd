import type { StrategySummary } from "../../api.ts";

const KINDS = { wasm: "WASM", script: "Script", remote: "Remote" } as const;

/** How a strategy runs, such as `WASM, rust`. */
export function describeRuntime(
  { runtime_type: type, language }: Pick<StrategySummary, "runtime_type" | "language">,
): string {
  return type === "builtin" ? "Built in" : `${KINDS[type]}, ${language}`;
}

/** Says who can see a strategy, and marks the user's own. */
export function VisibilityBadge({ strategy: { source, is_owner, is_public } }: {
  readonly strategy: Pick<StrategySummary, "source" | "is_owner" | "is_public">;
}) {
  if (source === "builtin") return <span className="text-muted">Built in</span>;
  if (!is_owner) return <span className="text-muted">Public</span>;
  return (
    <span className="font-medium whitespace-nowrap">
      <span aria-hidden="true" className="text-accent">●</span> <span>{is_public ? "Yours, public" : "Yours"}</span>
    </span>
  );
}
