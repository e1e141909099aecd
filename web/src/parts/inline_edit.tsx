import { type FormEvent, type KeyboardEvent, useId, useState } from "react";
import { describeError, issuesOf } from "../api.ts";
import { Button } from "./button.tsx";
import { dropDraft, keepDraft, readDraft, useLeaveQuestion } from "./draft.ts";
import { controlClass } from "./field.tsx";

/**
 * A text that is edited where it stands: Enter keeps it (Ctrl+Enter in a long one), Escape leaves it as it was.
 *
 * @param label Names it for screen readers.
 * @param error The refusal of what was typed, which stands below it.
 * @param suggestions Texts that are offered while typing.
 */
export function InlineEdit(
  { label, start, placeholder, isLong = false, error, suggestions, draft, keep = "Save", onKeep, onLeave }: {
    readonly label: string;
    readonly start: string;
    readonly placeholder?: string;
    readonly isLong?: boolean;
    readonly error: unknown;
    readonly suggestions?: readonly string[] | undefined;
    /** The name under which what is typed is kept in this browser. */
    readonly draft?: string;
    readonly keep?: string;
    readonly onKeep: (text: string) => void;
    readonly onLeave: () => void;
  },
) {
  const id = useId();
  const [text, setText] = useState(() => {
    const typed = draft && readDraft(draft);
    return typeof typed === "string" ? typed : start;
  });
  const [isKept, setKept] = useState(true);
  useLeaveQuestion(text !== start && !(draft !== undefined && isKept));
  const type = (typed: string) => {
    setText(typed);
    if (draft !== undefined) setKept(keepDraft(draft, typed));
  };
  const leave = () => {
    if (draft !== undefined) dropDraft(draft);
    onLeave();
  };
  const issue = issuesOf(error)[0];
  const fault = error === null ? undefined : issue === undefined ? describeError(error) : `It ${issue.message}`;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onKeep(text.trim());
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape") leave();
    if (isLong && event.key === "Enter" && event.ctrlKey) submit(event);
  };
  const shared = {
    ...{ value: text, placeholder, onKeyDown, autoFocus: true, "aria-label": label },
    ...{ "aria-invalid": fault !== undefined, "aria-describedby": `${id}-note` },
  };
  return (
    <form noValidate onSubmit={submit} className={isLong ? "w-full" : "w-full max-w-xl"}>
      <div className={`flex gap-2 ${isLong ? "flex-col" : "items-center"}`}>
        {isLong
          ? (
            <textarea
              {...shared}
              rows={6}
              onChange={({ target }) => type(target.value)}
              className={`${controlClass(fault)} h-auto! resize-y py-1.5`}
            />
          )
          : (
            <input
              {...shared}
              autoComplete="off"
              list={suggestions && `${id}-list`}
              onChange={({ target }) => type(target.value)}
              className={`${controlClass(fault)} h-8! min-w-0`}
            />
          )}
        <div className="flex gap-1">
          <Button type="submit" kind="primary">{keep}</Button>
          <Button kind="quiet" onClick={leave}>Cancel</Button>
        </div>
      </div>
      {suggestions && (
        <datalist id={`${id}-list`}>{suggestions.map((each) => <option key={each} value={each} />)}</datalist>
      )}
      <p id={`${id}-note`} role="alert" className="pt-0.5 text-xs text-danger empty:hidden">{fault}</p>
    </form>
  );
}
