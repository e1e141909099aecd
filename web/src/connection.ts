import { useSyncExternalStore } from "react";

const RETRY_MS = 2_000;

let isLost = false;
const listeners = new Set<() => void>();
const restorations = new Set<() => void>();
// The browser knows at once when the device has no network; the rest is learnt by asking.
addEventListener("offline", () => setLost(true));

/** fetch() that notices when the service cannot be reached, and when it can again. */
export async function watchedFetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  try {
    const response = await fetch(input, init);
    if (isLost) setLost(false);
    return response;
  } catch (error) {
    if (!(error instanceof DOMException && error.name === "AbortError")) setLost(true);
    throw error;
  }
}

/** True if the service cannot be reached. */
export function useConnectionLost(): boolean {
  return useSyncExternalStore(subscribe, () => isLost);
}

/** Calls back each time the service can be reached again. */
export function onReconnect(callback: () => void): void {
  restorations.add(callback);
}

function setLost(lost: boolean): void {
  if (isLost === lost) return;
  isLost = lost;
  for (const listener of listeners) listener();
  if (lost) setTimeout(probe, RETRY_MS);
  else for (const callback of restorations) callback();
}

async function probe(): Promise<void> {
  if (!isLost) return;
  try {
    const { ok } = await fetch("/api/health");
    if (ok) return setLost(false);
  } catch {
    // Still away.
  }
  setTimeout(probe, RETRY_MS);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}
