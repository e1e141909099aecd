import { Link, useLocation } from "@tanstack/react-router";
import { describeError } from "../api.ts";
import { Button, buttonClass } from "./button.tsx";
import { likelyCause } from "./likely_cause.ts";
import { Main } from "./landmark.tsx";
import { nearestPage } from "./nearest_page.ts";

const NOTICE_CLASS = "mx-auto my-16 max-w-lg rounded-lg border border-line bg-surface p-8 text-center";

/** Says what failed, and offers to try again. */
export function Failure({ error, reset }: { readonly error: unknown; readonly reset?: () => void }) {
  return (
    <Main className="mx-auto my-16 max-w-lg">
      <div role="alert" className="rounded-lg border border-line bg-surface p-6">
        <h1 className="text-lg font-semibold">This could not be shown</h1>
        <p className="mt-2 break-words text-muted">{describeError(error)}</p>
        <p className="mt-2">{likelyCause(error)}</p>
        {reset && <Button className="mt-4" onClick={reset}>Try again</Button>}
      </div>
    </Main>
  );
}

/** Shown for the address of a record that the reader cannot see. @param noun As in "run". @param to The reader's own ones. */
export function NotYours({ noun, to }: { readonly noun: string; readonly to: "/runs" | "/optimizations" }) {
  return (
    <div className={NOTICE_CLASS}>
      <h1 className="text-xl font-semibold">This {noun} is not yours to see</h1>
      <p className="mt-2 text-muted">
        This is the address of a single{" "}
        {noun}. It belongs to another user, or it was deleted. Only its owner opens it here: ask them to choose “Share”
        on its page, which makes a link that anybody can read.
      </p>
      <Link to={to} className={`mt-4 ${buttonClass()}`}>Go to your {noun}s</Link>
    </div>
  );
}

/** Shown in place of a record that was open while another tab, browser or program deleted it. */
export function DeletedElsewhere({ noun, to }: { readonly noun: string; readonly to: "/runs" | "/optimizations" }) {
  return (
    <div role="alert" className={NOTICE_CLASS}>
      <h1 className="text-xl font-semibold">This {noun} was deleted</h1>
      <p className="mt-2 text-muted">
        Another tab, another browser or a program deleted it while this page was open. Its result is gone.
      </p>
      <Link to={to} className={`mt-4 ${buttonClass()}`}>Go to your {noun}s</Link>
    </div>
  );
}

/** Shown for an address without a page. */
export function NotFound() {
  const path = useLocation({ select: ({ pathname }) => pathname });
  const { href, label } = nearestPage(path);
  return (
    <Main className={NOTICE_CLASS}>
      <h1 className="text-xl font-semibold">There is no such page</h1>
      <p className="mt-2 text-muted">
        Nothing is at{" "}
        <span className="font-mono wrap-anywhere text-text">{path}</span>. The address may be mistyped, or its record
        was deleted.
      </p>
      <Link to={href} className={`mt-4 max-w-full ${buttonClass()}`}>
        <span className="truncate">Go to {label}</span>
      </Link>
    </Main>
  );
}
