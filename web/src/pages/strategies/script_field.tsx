import { useEffect, useId, useRef } from "react";
import { useController, type UseFormReturn } from "react-hook-form";
import { FieldNote } from "../../parts/field.tsx";
import type { RegistrationForm } from "./registration_form.ts";
import { findPlace, indexOfPlace } from "./script_place.ts";

const ROWS = 16;
// leading-5 of the text and of its line numbers.
const LINE_PX = 20;

/** The text of a script with its line numbers. A refusal marks its line, and the caret goes there. */
export function ScriptField({ form: { control }, refusal }: {
  readonly form: UseFormReturn<RegistrationForm>;
  /** Why the service refused the text; empty while it has not. */
  readonly refusal: string;
}) {
  const { field, fieldState: { error } } = useController({
    control,
    name: "source",
    rules: { required: "Write a script" },
  });
  const id = useId();
  const area = useRef<HTMLTextAreaElement>(null);
  const numbers = useRef<HTMLPreElement>(null);
  const place = findPlace(refusal);
  useEffect(() => {
    const found = findPlace(refusal);
    const { current } = area;
    if (found === null || current === null) return;
    const index = indexOfPlace(current.value, found);
    current.focus();
    current.setSelectionRange(index, index);
    current.scrollTop = (found.line - ROWS / 2) * LINE_PX;
  }, [refusal]);
  const isWrong = error !== undefined || refusal !== "";
  return (
    <div className="min-w-0">
      <label htmlFor={id} className="mb-1 block text-sm font-medium">Script</label>
      <div
        className={`mb-1 flex overflow-hidden rounded-md border bg-surface focus-within:outline-2 focus-within:outline-offset-2 focus-within:outline-accent ${
          isWrong ? "border-danger" : "border-strong-line"
        }`}
      >
        <pre
          ref={numbers}
          aria-hidden="true"
          className="relative w-14 shrink-0 overflow-hidden border-r border-line bg-sunken py-2 text-right font-mono text-sm leading-5 text-muted select-none"
        >
          {field.value.split("\n").map((_, i) => <LineNumber key={i} number={i + 1} isWrong={place?.line === i + 1} />)}
        </pre>
        <textarea
          {...field}
          ref={(element) => {
            field.ref(element);
            area.current = element;
          }}
          id={id}
          rows={ROWS}
          wrap="off"
          spellCheck={false}
          autoCapitalize="off"
          autoComplete="off"
          aria-invalid={isWrong}
          aria-describedby={`${id}-note`}
          onScroll={({ currentTarget }) => {
            if (numbers.current !== null) numbers.current.scrollTop = currentTarget.scrollTop;
          }}
          className="min-w-0 grow resize-none overflow-auto bg-transparent px-3 py-2 font-mono text-sm leading-5 outline-none"
        />
      </div>
      <FieldNote
        id={`${id}-note`}
        hint="TypeScript or JavaScript, at most 256 KiB. A worker compiles it and runs it over made-up candles before it is kept."
        error={error?.message}
      />
    </div>
  );
}

function LineNumber({ number, isWrong }: { readonly number: number; readonly isWrong: boolean }) {
  return (
    <div className={`pr-2 ${isWrong ? "bg-danger font-semibold text-surface" : ""}`}>
      {isWrong ? `✕ ${number}` : number}
    </div>
  );
}
