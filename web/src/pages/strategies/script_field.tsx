import { useEffect, useId, useRef } from "react";
import { useController, type UseFormReturn } from "react-hook-form";
import { FieldNote } from "../../parts/field.tsx";
import { CodeEditor } from "./editor/code_editor.ts";
import type { RegistrationForm } from "./registration_form.ts";

/** Why a text was refused. */
export interface ScriptFault {
  /** Empty where it was not. */
  readonly message: string;
  /** True if the caret goes to the mistake. */
  readonly goes: boolean;
}

/** The editor of a script. A refusal underlines its place. */
export function ScriptField({ form: { control }, fault, onRun }: {
  readonly form: UseFormReturn<RegistrationForm>;
  readonly fault: ScriptFault;
  readonly onRun: () => void;
}) {
  const { field, fieldState: { error } } = useController({
    control,
    name: "source",
    rules: { required: "Write a script" },
  });
  const id = useId();
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<CodeEditor>(null);
  const latest = useRef({ field, onRun });
  latest.current = { field, onRun };
  useEffect(() => {
    if (host.current === null) return;
    const made = new CodeEditor(host.current, latest.current.field.value, {
      onChange: (text) => latest.current.field.onChange(text),
      onLeave: () => latest.current.field.onBlur(),
      onRun: () => latest.current.onRun(),
    });
    editor.current = made;
    latest.current.field.ref({ focus: () => made.focus() });
    return () => made.close();
  }, []);
  useEffect(() => editor.current?.setText(field.value), [field.value]);
  const isWrong = error !== undefined || fault.message !== "";
  useEffect(() => editor.current?.showFault(fault.message, { goes: fault.goes, isWrong }), [fault, isWrong]);
  return (
    <div className="min-w-0">
      <p aria-hidden="true" className="mb-1 text-sm font-medium">Script</p>
      <div
        className={`mb-1 h-[min(34rem,70vh)] overflow-hidden rounded-md border bg-surface focus-within:outline-2 focus-within:outline-offset-2 focus-within:outline-accent ${
          isWrong ? "border-danger" : "border-strong-line"
        }`}
      >
        <div ref={host} className="h-full" />
      </div>
      <FieldNote
        id={`${id}-note`}
        hint="TypeScript, JavaScript or Python, at most 256 KiB. Ctrl+Space completes; Escape and then Tab leaves the editor."
        error={error?.message}
      />
    </div>
  );
}
