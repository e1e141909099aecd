import { Dialog } from "@base-ui/react/dialog";
import { useNavigate } from "@tanstack/react-router";
import { useLayoutEffect, useState } from "react";
import { buttonClass } from "./button.tsx";

const KEYS = [
  ["/", "search"],
  ["n", "new run"],
  ["j, k", "next and previous row"],
  ["Enter", "open the row"],
  ["?", "this help"],
] as const;

/** The keys that work on every page, and their help. A page marks its search with `data-search` and its rows with `data-row`. */
export function Shortcuts() {
  const navigate = useNavigate();
  const [isOpen, setOpen] = useState(false);
  // A key that is pressed as soon as the page is drawn counts.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const act = {
        "/": () => document.querySelector<HTMLElement>("[data-search]")?.focus(),
        n: () => void navigate({ to: "/runs/new" }),
        j: () => moveRow(1),
        k: () => moveRow(-1),
        "?": () => setOpen(true),
      }[event.key];
      if (act === undefined) return;
      event.preventDefault();
      act();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [navigate]);
  return (
    <Dialog.Root open={isOpen} onOpenChange={setOpen}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-20 bg-page/70" />
        <Dialog.Popup className="fixed top-1/4 left-1/2 z-30 w-[min(22rem,calc(100vw-2rem))] -translate-x-1/2 rounded-lg border border-line bg-surface p-5 shadow-xl">
          <Dialog.Title className="text-lg font-semibold">Keys</Dialog.Title>
          <dl className="my-3">
            {KEYS.map(([key, does]) => (
              <div key={key} className="flex justify-between border-b border-line/60 py-1">
                <dt>
                  <kbd className="font-mono text-sm">{key}</kbd>
                </dt>
                <dd className="text-muted">{does}</dd>
              </div>
            ))}
          </dl>
          <Dialog.Close className={buttonClass()}>Close</Dialog.Close>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest("input, textarea, select, [contenteditable]") !== null;
}

function moveRow(by: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>("[data-row]")];
  const at = rows.findIndex((row) => row === document.activeElement);
  rows[at === -1 ? 0 : Math.max(0, Math.min(rows.length - 1, at + by))]?.focus();
}
