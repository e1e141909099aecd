import { Link } from "@tanstack/react-router";
import { describeError } from "../api.ts";

/** Says what failed, and offers to try again. */
export function Failure({ error, reset }: { readonly error: unknown; readonly reset?: () => void }) {
  return (
    <div role="alert" className="mx-auto my-16 max-w-lg rounded-lg border border-line bg-surface p-6">
      <h1 className="text-lg font-semibold">This could not be shown</h1>
      <p className="mt-2 break-words text-muted">{describeError(error)}</p>
      {reset && (
        <button type="button" className="mt-4 rounded-md border border-strong-line px-3 py-1.5" onClick={reset}>
          Try again
        </button>
      )}
    </div>
  );
}

/** Shown for an address without a page. */
export function NotFound() {
  return (
    <main className="mx-auto my-16 max-w-lg p-6 text-center">
      <h1 className="text-xl font-semibold">There is no such page</h1>
      <p className="mt-2 text-muted">The address may be mistyped, or what it showed was deleted.</p>
      <Link to="/runs" className="mt-4 inline-block text-accent underline">Go to your runs</Link>
    </main>
  );
}
