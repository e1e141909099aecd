import type { StrategySummary } from "../../api.ts";

const KINDS = { wasm: "WASM", script: "Script", remote: "Remote" } as const;

/** How a strategy runs, such as `WASM, rust`. */
export function describeRuntime(
  { runtime_type: type, language }: Pick<StrategySummary, "runtime_type" | "language">,
): string {
  return type === "builtin" ? "Built in" : `${KINDS[type]}, ${language}`;
}

/** True if the reader may see the code of the strategy's versions. */
export function isReadable({ is_owner, source_access }: Pick<StrategySummary, "is_owner" | "source_access">): boolean {
  return is_owner || source_access === "open";
}

/** Says who can see a strategy, and marks the user's own. */
export function VisibilityBadge({ strategy: { source, is_owner, is_public, source_access } }: {
  readonly strategy: Pick<StrategySummary, "source" | "is_owner" | "is_public" | "source_access">;
}) {
  if (source === "builtin") return <span className="text-muted">Built in</span>;
  const openness = is_public && source_access === "open" ? ", open source" : "";
  if (!is_owner) return <span className="text-muted">Public{openness}</span>;
  return (
    <span className="font-medium whitespace-nowrap">
      <span aria-hidden="true" className="text-accent">●</span>{" "}
      <span>{is_public ? `Yours, public${openness}` : "Yours"}</span>
    </span>
  );
}
