import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { api, type Backtest, describeError } from "../../../api.ts";
import { notesDraft, readDraft } from "../../../parts/draft.ts";
import { InlineEdit } from "../../../parts/inline_edit.tsx";
import { useLabelField, useLabels } from "../../../parts/use_labels.ts";

const QUIET = "h-6 rounded px-1.5 text-xs text-muted hover:bg-sunken hover:text-text";

/** The tags and the notes of a run, edited where they stand. */
export function RunLabels({ backtest }: { readonly backtest: Backtest }) {
  const draft = notesDraft(backtest.id);
  const { shown: { notes }, error, refused, isOpen, wasOpen, open, keep, leave } = useLabelField(
    backtest,
    readDraft(draft) !== undefined,
  );
  return (
    <div className="mt-1.5 flex flex-col gap-1.5">
      <div className="flex flex-wrap items-center gap-1.5">
        <Tags backtest={backtest} />
        {!isOpen && (
          <button type="button" autoFocus={wasOpen} onClick={open} className={QUIET}>
            {notes === null ? "+ Notes" : "✎ Edit the notes"}
          </button>
        )}
      </div>
      {isOpen
        ? (
          <InlineEdit
            isLong
            label="Notes on the run"
            start={refused.notes ?? notes ?? ""}
            placeholder="What you wanted to know, and what you found"
            error={error}
            draft={draft}
            onKeep={(typed) => keep({ notes: typed })}
            onLeave={leave}
          />
        )
        : notes !== null && (
          <p
            role="region"
            tabIndex={0}
            aria-label="Notes"
            className="max-h-40 max-w-4xl overflow-y-auto border-l-2 border-line pl-3 text-sm wrap-anywhere whitespace-pre-wrap"
          >
            {notes}
          </p>
        )}
    </div>
  );
}

function Tags({ backtest }: { readonly backtest: Backtest }) {
  const removal = useLabels(backtest);
  const { shown, error, refused, isOpen, wasOpen, open, keep, leave } = useLabelField(removal.shown);
  const { tags } = shown;
  const { data: known } = useQuery(api.backtests.filterValues.queryOptions(undefined, { enabled: isOpen }));
  return (
    <>
      {tags.map((tag) => (
        <span key={tag} className="flex max-w-64 items-center rounded bg-sunken text-xs">
          <Link to="/runs" search={{ tag }} title={`Runs tagged ${tag}`} className="truncate py-1 pl-2 hover:underline">
            {tag}
          </Link>
          <button
            type="button"
            aria-label={`Remove the tag ${tag}`}
            onClick={() => removal.put({ tags: tags.filter((each) => each !== tag) })}
            className="h-6 px-1.5 text-muted hover:text-text"
          >
            ×
          </button>
        </span>
      ))}
      {isOpen
        ? (
          <InlineEdit
            label="New tag"
            start={refused.tags?.at(-1) ?? ""}
            error={error}
            suggestions={known?.tags.filter((each) => !tags.includes(each))}
            keep="Add"
            onKeep={(tag) => tag === "" ? leave() : keep({ tags: [...tags, tag] })}
            onLeave={leave}
          />
        )
        : <button type="button" autoFocus={wasOpen} onClick={open} className={QUIET}>+ Tag</button>}
      {removal.error && <span role="alert" className="text-xs text-danger">{describeError(removal.error)}</span>}
    </>
  );
}
