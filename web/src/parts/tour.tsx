import { Link } from "@tanstack/react-router";
import { useEffect, useRef, useSyncExternalStore } from "react";
import { Button, buttonClass } from "./button.tsx";

const KEY = "hindcast.tour";
const STEPS = [
  {
    title: "Read the result",
    text:
      "Compare the net return with buy & hold first: below it, holding was better. Each name of a figure explains " +
      "itself under the pointer or in focus.",
  },
  {
    title: "See why it traded",
    text:
      "Open the tab Trades and choose one: the charts show it with the lines that decided it. Click a bar to read " +
      "what the strategy saw there.",
  },
  {
    title: "Change it",
    text: "“Change and see” runs it again while you type. Each try counts, because the best of many is partly luck.",
  },
  {
    title: "Ask how much is luck",
    text: "An optimization tries many parameters and answers that.",
    to: "/optimizations/new",
  },
  {
    title: "Take real markets",
    text: "The sample is invented. Market data has real ones, or takes your files.",
    to: "/data",
  },
] as const;

const listeners = new Set<() => void>();

/** Begins the tour, which stands beside each page of this tab until it is left. */
export function startTour(): void {
  goTo(0);
}

/** Ends the tour. */
export function leaveTour(): void {
  goTo(null);
}

function goTo(step: number | null): void {
  if (step === null) sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, String(step));
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** First steps after a first run, one at a time; Escape leaves them. */
export function Tour() {
  const kept = useSyncExternalStore(subscribe, () => sessionStorage.getItem(KEY));
  const at = Number(kept);
  const step = kept === null ? undefined : STEPS[at];
  const next = useRef<HTMLButtonElement>(null);
  const isOpen = step !== undefined;
  useEffect(() => {
    if (isOpen) next.current?.focus({ preventScroll: true });
  }, [isOpen]);
  if (step === undefined) return null;
  return (
    <section
      aria-label="First steps"
      className="fixed bottom-4 left-4 z-20 w-80 max-w-[calc(100vw-2rem)] rounded-lg border border-strong-line bg-surface p-4 shadow-lg"
      onKeyDown={({ key }) => key === "Escape" && leaveTour()}
    >
      <div role="status">
        <p className="text-xs text-muted">{at + 1} of {STEPS.length}</p>
        <h2 className="font-semibold">{step.title}</h2>
        <p className="mt-1 text-sm">{step.text}</p>
      </div>
      {"to" in step && <Link to={step.to} className="mt-1 inline-block text-sm text-accent underline">Open it</Link>}
      <div className="mt-3 flex gap-2">
        <Button kind="quiet" className="mr-auto" onClick={leaveTour}>Leave</Button>
        {at > 0 && <Button onClick={() => goTo(at - 1)}>Back</Button>}
        <button
          ref={next}
          type="button"
          className={buttonClass("primary")}
          onClick={() => goTo(at + 1 < STEPS.length ? at + 1 : null)}
        >
          {at + 1 < STEPS.length ? "Next" : "Done"}
        </button>
      </div>
    </section>
  );
}
