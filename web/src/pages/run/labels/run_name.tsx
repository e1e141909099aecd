import type { Backtest } from "../../../api.ts";
import { InlineEdit } from "../../../parts/inline_edit.tsx";
import { StarButton } from "../../../parts/star_button.tsx";
import { RunHeading } from "../../../parts/run_heading.tsx";
import { useLabelField } from "../../../parts/use_labels.ts";

/** The heading of a run: its star, its name (the strategy's where it has none), and its status. */
export function RunName({ backtest }: { readonly backtest: Backtest }) {
  const { shown: { name, strategy }, error, refused, isOpen, wasOpen, open, keep, leave } = useLabelField(backtest);
  if (isOpen) {
    return (
      <div className="flex min-h-8 items-start">
        <h1 className="sr-only">{name ?? strategy}</h1>
        <InlineEdit
          label="Name of the run"
          start={refused.name ?? name ?? ""}
          placeholder={strategy}
          error={error}
          onKeep={(typed) => keep({ name: typed })}
          onLeave={leave}
        />
      </div>
    );
  }
  return (
    <div className="-ml-1.5 flex min-h-8 items-center gap-1">
      <StarButton run={backtest} />
      <RunHeading run={{ ...backtest, name }} />
      <button
        type="button"
        aria-label="Rename the run"
        title="Rename the run"
        autoFocus={wasOpen}
        onClick={open}
        className="grid size-7 shrink-0 place-items-center rounded-md text-muted hover:bg-sunken hover:text-text"
      >
        ✎
      </button>
    </div>
  );
}
