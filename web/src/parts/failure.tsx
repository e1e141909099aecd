import { Link } from "@tanstack/react-router";
import { describeError } from "../api.ts";
import { likelyCause } from "./likely_cause.ts";
import { Main } from "./landmark.tsx";

/** Says what failed, and offers to try again. */
export function Failure({ error, reset }: { readonly error: unknown; readonly reset?: () => void }) {
  return (
    <Main className="mx-auto my-16 max-w-lg">
      <div role="alert" className="rounded-lg border border-line bg-surface p-6">
        <h1 className="text-lg font-semibold">This could not be shown</h1>
        <p className="mt-2 break-words text-muted">{describeError(error)}</p>
        <p className="mt-2">{likelyCause(error)}</p>
        {reset && (
          <button type="button" className="mt-4 rounded-md border border-strong-line px-3 py-1.5" onClick={reset}>
            Try again
          </button>
        )}
      </div>
    </Main>
  );
}

/** Shown for the address of a record that the reader cannot see. @param noun As in "run". @param to The reader's own ones. */
export function NotYours({ noun, to }: { readonly noun: string; readonly to: "/runs" | "/optimizations" }) {
  return (
    <div className="mx-auto my-16 max-w-lg p-6 text-center">
      <h1 className="text-xl font-semibold">This {noun} is not yours to see</h1>
      <p className="mt-2 text-muted">
        This is the address of a single{" "}
        {noun}. It belongs to another user, or it was deleted. Only its owner opens it here: ask them to choose “Share”
        on its page, which makes a link that anybody can read.
      </p>
      <Link to={to} className="mt-4 inline-block text-accent underline">Go to your {noun}s</Link>
    </div>
  );
}

/** Shown for an address without a page. */
export function NotFound() {
  return (
    <Main className="mx-auto my-16 max-w-lg p-6 text-center">
      <h1 className="text-xl font-semibold">There is no such page</h1>
      <p className="mt-2 text-muted">The address may be mistyped, or what it showed was deleted.</p>
      <Link to="/runs" className="mt-4 inline-block text-accent underline">Go to your runs</Link>
    </Main>
  );
}
