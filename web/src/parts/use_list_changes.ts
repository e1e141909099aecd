import { useSubscription } from "@trpc/tanstack-react-query";
import { useSyncExternalStore } from "react";
import { api } from "../api.ts";
import { useConnectionLost } from "../connection.ts";
import { useReopening } from "./use_reopening.ts";

/**
 * Notices what programs and other browsers submit, finish, label and delete among the user's runs.
 *
 * @param read Reads again what is shown; `isMissed` is true where changes may have come before they were followed.
 * @param isWanted False where nothing is followed.
 * @returns True while changes arrive by events.
 */
export function useListChanges(read: (isMissed: boolean) => void, isWanted = true): boolean {
  // A browser opens few connections to a service: tabs that nobody sees leave theirs to others.
  const enabled = useVisible() && !useConnectionLost() && isWanted;
  const stream = useSubscription(
    api.backtests.onListChange.subscriptionOptions(undefined, {
      enabled,
      onData: ({ changes }) => read(changes === 0),
    }),
  );
  useReopening(stream, enabled, () => read(true));
  return stream.status === "pending";
}

/** True if the tab is in sight. */
function useVisible(): boolean {
  return useSyncExternalStore(onVisibility, () => document.visibilityState === "visible");
}

function onVisibility(listener: () => void): () => void {
  document.addEventListener("visibilitychange", listener);
  return () => document.removeEventListener("visibilitychange", listener);
}
