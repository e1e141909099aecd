import type { ComponentType } from "react";
import { describeError } from "../../api.ts";
import type { RunStart } from "./use_run_form.ts";
import { useStart } from "./use_start.ts";

/** A page with a form that begins with an earlier run or a strategy. @param note Stands below the title of a form that begins with neither. */
export function StartPage({ title, note, search: { from, strategy, universe }, form: Form }: {
  readonly title: string;
  readonly note: string;
  readonly search: {
    readonly from?: string | undefined;
    readonly strategy?: string | undefined;
    readonly universe?: string | undefined;
  };
  readonly form: ComponentType<RunStart>;
}) {
  const { first, held, earlier, note: origin, error } = useStart(from, strategy);
  return (
    <div className="mx-auto max-w-6xl">
      <h1 className="text-xl font-semibold">{title}</h1>
      <p className="mt-0.5 mb-3 min-h-5 text-sm break-words text-muted">{origin ?? note}</p>
      {first === undefined
        ? (
          <p role={error ? "alert" : "status"} className="py-24 text-center text-muted">
            {error ? describeError(error) : "Loading what can be run …"}
          </p>
        )
        : (
          <Form
            key={`${from} ${strategy} ${universe}`}
            first={first}
            held={held}
            earlier={earlier}
            universe={universe}
          />
        )}
    </div>
  );
}
