import type { FieldValues, Path, UseFormSetError } from "react-hook-form";
import { describeError, issuesOf } from "../api.ts";
import { nameProviders } from "./provider_name.ts";

/** A field of a form, or of another form beside it, and the place within its value. */
export type RefusedField<Values extends FieldValues> =
  | { readonly name: Path<Values>; readonly place?: string }
  | { readonly show: (message: string, shouldFocus: boolean) => void };

/**
 * Shows a refusal in a form: each issue at its field, of which the first takes the focus, and the rest below the form.
 *
 * @param fieldAt The field that a JSON pointer is about; null where the form has none.
 */
export function showRefusal<Values extends FieldValues>(
  setError: UseFormSetError<Values>,
  error: unknown,
  fieldAt: (path: string) => RefusedField<Values> | null,
): void {
  let isShown = false;
  const others: string[] = [];
  for (const { path, message } of issuesOf(error)) {
    const field = fieldAt(path);
    if (field === null) {
      others.push(`${path.split("/").at(-1)} ${message}`);
      continue;
    }
    if ("show" in field) field.show(asSentence(message), !isShown);
    else setError(field.name, { message: asSentence(message, field.place) }, { shouldFocus: !isShown });
    isShown = true;
  }
  if (others.length > 0 || !isShown) {
    setError("root", { message: isShown ? others.join("; ") : describeError(error) });
  }
}

/** A refusal beside its field: `It must be 2 or more`; one that names a line begins with it. */
function asSentence(message: string, place = ""): string {
  const text = nameProviders(message);
  return place === "" && /^line \d/.test(text) ? `L${text.slice(1)}` : `${place || "It"} ${text}`;
}
