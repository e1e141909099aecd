import { type Backtest, describeError } from "../api.ts";
import { useLabels } from "./use_labels.ts";

/** The star of a run, which a click gives or takes. */
export function StarButton(
  { run }: { readonly run: Pick<Backtest, "id" | "name" | "default_name" | "tags" | "star"> },
) {
  const { shown: { star, name, default_name }, error, put } = useLabels(run);
  return (
    <button
      type="button"
      aria-pressed={star}
      aria-label={`Star ${name ?? default_name}`}
      title={error ? describeError(error) : star ? "Take the star away" : "Give a star"}
      onClick={(event) => {
        event.stopPropagation();
        put({ star: !star });
      }}
      className={`grid size-7 shrink-0 place-items-center rounded-md text-lg leading-none hover:bg-sunken ${
        error ? "text-danger" : star ? "text-warn" : "text-muted"
      }`}
    >
      {error ? "!" : star ? "★" : "☆"}
    </button>
  );
}
