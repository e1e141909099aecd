import { useEffect, useEffectEvent } from "react";

const RETRY_MS = 1_000;

/** A subscription, as useSubscription() gives it. */
interface Stream {
  readonly status: string;
  readonly error: unknown;
  reset(): void;
}

/**
 * Opens a stream again that was cut before its end.
 *
 * @param refresh Asks for the record. The browser opens a lost stream again by itself and says nothing: only a call finds out that the
 *   service is gone.
 */
export function useReopening({ status, error, reset }: Stream, isUnderWay: boolean, refresh: () => void): void {
  const isCut = status === "error" || (status === "connecting" && error !== null);
  const reopen = useEffectEvent(() => {
    refresh();
    reset();
  });
  useEffect(() => {
    if (!isCut || !isUnderWay) return;
    const timer = setTimeout(reopen, RETRY_MS);
    return () => clearTimeout(timer);
  }, [isCut, isUnderWay]);
}
