import type { Backtest } from "../api.ts";
import { formatProgress } from "./format.ts";

const LOOKS = {
  queued: { text: "Queued", tone: "text-muted", mark: "○" },
  running: { text: "Running", tone: "text-accent", mark: "◔" },
  completed: { text: "Completed", tone: "text-gain", mark: "✓" },
  failed: { text: "Failed", tone: "text-danger", mark: "✕" },
  cancelled: { text: "Cancelled", tone: "text-muted", mark: "–" },
} as const;

/** The status of a run, as a word and a mark; with its progress while it runs. */
export function StatusBadge({ status, progress }: Pick<Backtest, "status" | "progress">) {
  const { text, tone, mark } = LOOKS[status];
  return (
    <span className={`inline-flex items-center gap-1 whitespace-nowrap text-sm font-medium ${tone}`}>
      <span aria-hidden="true">{mark}</span>
      {text}
      {status === "running" && <span className="font-normal">{formatProgress(progress)}</span>}
    </span>
  );
}
