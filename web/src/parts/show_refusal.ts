import type { FieldValues, Path, UseFormSetError } from "react-hook-form";
import { describeError, issuesOf } from "../api.ts";

/**
 * Shows a refusal in a form: each issue at its field, of which the first takes the focus, and the rest below the form.
 *
 * @param fieldAt The field that a JSON pointer is about, and the place within its value; null where the form has none.
 */
export function showRefusal<Values extends FieldValues>(
  setError: UseFormSetError<Values>,
  error: unknown,
  fieldAt: (path: string) => { readonly name: Path<Values>; readonly place?: string } | null,
): void {
  let isShown = false;
  const others: string[] = [];
  for (const { path, message } of issuesOf(error)) {
    const field = fieldAt(path);
    if (field === null) {
      others.push(`${path.split("/").at(-1)} ${message}`);
      continue;
    }
    setError(field.name, { message: `${field.place || "It"} ${message}` }, { shouldFocus: !isShown });
    isShown = true;
  }
  if (others.length > 0 || !isShown) {
    setError("root", { message: isShown ? others.join("; ") : describeError(error) });
  }
}
