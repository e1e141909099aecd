import { type ComponentProps, useId } from "react";

interface FieldProps {
  readonly label: string;
  readonly hint?: string | undefined;
  readonly error?: string | undefined;
}

const CONTROL = "h-9 w-full rounded-md border bg-surface px-2.5 text-base";

/** The look of a text field or a list to choose from. */
export function controlClass(error: string | undefined): string {
  return `${CONTROL} ${error === undefined ? "border-strong-line" : "border-danger"}`;
}

/** A labelled text field with its hint, and its error beside it. */
export function Field({ label, hint, error, ...rest }: FieldProps & ComponentProps<"input">) {
  const id = useId();
  return (
    <div className="min-w-0">
      <label htmlFor={id} className="mb-1 block text-sm font-medium wrap-anywhere">{label}</label>
      <input
        {...rest}
        id={id}
        aria-invalid={error !== undefined}
        aria-describedby={`${id}-note`}
        className={controlClass(error)}
      />
      <FieldNote id={`${id}-note`} hint={hint} error={error} />
    </div>
  );
}

/** A value to choose; values of one group stand together. */
export interface Option {
  readonly value: string;
  readonly label: string;
  readonly group?: string;
}

/** A labelled list to choose from. */
export function SelectField(
  { label, hint, error, options, ...rest }: FieldProps & ComponentProps<"select"> & {
    readonly options: readonly Option[];
  },
) {
  const id = useId();
  const groups = Map.groupBy(options, ({ group }) => group);
  return (
    <div className="min-w-0">
      <label htmlFor={id} className="mb-1 block text-sm font-medium wrap-anywhere">{label}</label>
      <select
        {...rest}
        id={id}
        aria-invalid={error !== undefined}
        aria-describedby={`${id}-note`}
        className={controlClass(error)}
      >
        {[...groups].map(([group, members]) => {
          const items = members.map(({ value, label: text }) => <option key={value} value={value}>{text}</option>);
          return group === undefined ? items : <optgroup key={group} label={group}>{items}</optgroup>;
        })}
      </select>
      <FieldNote id={`${id}-note`} hint={hint} error={error} />
    </div>
  );
}

/** A labelled box to tick. */
export function CheckField({ label, hint, error, ...rest }: FieldProps & ComponentProps<"input">) {
  const id = useId();
  return (
    <div>
      <label htmlFor={id} className="mt-6 flex h-9 items-center gap-2 text-sm font-medium">
        <input
          {...rest}
          type="checkbox"
          id={id}
          aria-invalid={error !== undefined}
          aria-describedby={`${id}-note`}
          className="size-4 accent-accent"
        />
        {label}
      </label>
      <FieldNote id={`${id}-note`} hint={hint} error={error} />
    </div>
  );
}

/** A labelled text of some lines; `isCode` shows it in a font for code. */
export function TextArea({ label, hint, error, isCode = false, ...rest }: FieldProps & ComponentProps<"textarea"> & {
  readonly isCode?: boolean;
}) {
  const id = useId();
  return (
    <div className="min-w-0">
      <label htmlFor={id} className="mb-1 block text-sm font-medium">{label}</label>
      <textarea
        {...rest}
        id={id}
        rows={5}
        spellCheck={!isCode}
        aria-invalid={error !== undefined}
        aria-describedby={`${id}-note`}
        className={`${controlClass(error)} min-h-32 resize-y py-1.5 ${isCode ? "font-mono text-sm" : ""}`}
      />
      <FieldNote id={`${id}-note`} hint={hint} error={error} />
    </div>
  );
}

/** The line below a field: its error, else its hint. The line is always there, so that nothing moves. */
export function FieldNote({ id, hint, error }: Omit<FieldProps, "label"> & { readonly id: string }) {
  return (
    <p id={id} className={`mb-2 min-h-5 pt-0.5 text-xs ${error === undefined ? "text-muted" : "text-danger"}`}>
      {error ?? hint}
    </p>
  );
}
