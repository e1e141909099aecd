import { type ReactNode, useLayoutEffect, useRef } from "react";
import type { UseFormReturn } from "react-hook-form";
import { Button } from "../../parts/button.tsx";
import type { RunForm } from "./run_form.ts";

/** A form in two columns, with a bar below them that submits it. @param summary Stands in the bar. @param action The button's text. @param isLoading Nothing is submitted yet. */
export function RunFormFrame({ form, label, top, left, right, summary, action, isLoading, onSubmit }: {
  readonly form: UseFormReturn<RunForm>;
  readonly label: string;
  readonly top: ReactNode;
  readonly left: ReactNode;
  readonly right: ReactNode;
  readonly summary: ReactNode;
  readonly action: string;
  readonly isLoading: boolean;
  readonly onSubmit: () => Promise<void>;
}) {
  const element = useRef<HTMLFormElement>(null);
  useSubmitKey(element);
  const { isSubmitting, errors: { root } } = form.formState;
  return (
    <form
      ref={element}
      noValidate
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault();
        if (isLoading) return;
        // The service's last refusal stays beside its field, and would keep the form from being submitted again.
        form.clearErrors();
        void onSubmit();
      }}
    >
      {top}
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <div className="flex min-w-0 flex-col gap-4">{left}</div>
        <div className="flex min-w-0 flex-col gap-4">{right}</div>
      </div>
      <div className="sticky bottom-2 z-10 mt-4 flex items-center gap-4 rounded-lg border border-line bg-surface px-4 py-3 shadow-sm">
        {summary}
        <p role="alert" className="min-w-0 text-sm break-words text-danger max-sm:grow">{root?.message}</p>
        <Button type="submit" kind="primary" className="h-9 min-w-32" disabled={isSubmitting || isLoading}>
          {isSubmitting ? "Starting …" : action}
          <kbd aria-hidden="true" className="text-xs font-normal max-sm:hidden">Ctrl ⏎</kbd>
        </Button>
      </div>
    </form>
  );
}

/** Ctrl+Enter, or the command key, submits from anywhere on the page. */
function useSubmitKey(form: React.RefObject<HTMLFormElement | null>): void {
  // A key that is pressed as soon as the form is drawn counts.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.repeat) return;
      event.preventDefault();
      form.current?.requestSubmit();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [form]);
}
