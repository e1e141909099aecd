import { Dialog } from "@base-ui/react/dialog";
import { lazy, Suspense, useState } from "react";
import { buttonClass } from "./button.tsx";
import type { ShareSubject } from "./share_subject.ts";

const ShareLinks = lazy(async () => ({ default: (await import("./share_links.tsx")).ShareLinks }));

/** Opens the links of a record: makes, shows and revokes them. @param noun As in "this run". */
export function ShareButton({ subject, noun }: { readonly subject: ShareSubject; readonly noun: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Dialog.Root open={isOpen} onOpenChange={setOpen}>
      <Dialog.Trigger className={buttonClass()}>Share</Dialog.Trigger>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-20 bg-page/70" />
        <Dialog.Popup className="fixed top-[12dvh] left-1/2 z-30 max-h-[80dvh] w-[min(34rem,calc(100vw-2rem))] -translate-x-1/2 overflow-y-auto rounded-lg border border-line bg-surface p-5 shadow-xl">
          <Dialog.Title className="text-lg font-semibold">Share this {noun}</Dialog.Title>
          <Dialog.Description className="mt-1 mb-4 text-sm text-muted">
            Everybody who has the link can read the {noun}{" "}
            without an account, until it expires or you revoke it. It shows everything but code, logs, notes, tags and
            your other runs.
          </Dialog.Description>
          <Suspense>
            <ShareLinks subject={subject} />
          </Suspense>
          <div className="mt-4 flex justify-end">
            <Dialog.Close className={buttonClass()}>Close</Dialog.Close>
          </div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
