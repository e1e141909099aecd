import type { CodeRefusal } from "./code_refusal.ts";
import { findPlace } from "./editor/script_place.ts";

/** The report of a check that refused a module or a script; for a script with the line that it names. */
export function Refused({ subject, reason, source }: CodeRefusal) {
  const place = findPlace(reason);
  const fault = reason.replace(/^Cannot use the script: strategy\.ts:\d+:\d+: /, "");
  return (
    <div role="alert" className="mb-2 rounded-md border border-l-4 border-line border-l-danger p-3">
      <p className="font-semibold">
        <span aria-hidden="true" className="text-danger">✕</span> The {subject} did not pass its check
      </p>
      <p className="mt-1 break-words">{place !== null && `Line ${place.line}, column ${place.column}: `}{fault}</p>
      {place !== null && (
        <pre className="mt-1 overflow-x-auto rounded-md bg-sunken p-2 font-mono text-xs" tabIndex={0}>
          {`${source.split("\n")[place.line - 1]}\n${" ".repeat(place.column - 1)}^`}
        </pre>
      )}
      <p className="mt-1 text-sm text-muted">
        Nothing was stored.{" "}
        {subject === "module" ? "Mend the module and choose it again" : "Mend it and send it again"}; `deno task
        strategy check` says the same without a service.
      </p>
    </div>
  );
}
