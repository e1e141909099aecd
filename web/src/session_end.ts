const listeners = new Set<() => void>();

/** Calls back when an answer says that there is no session any more. */
export function onEndOfSession(callback: () => void): void {
  listeners.add(callback);
}

/** Tells the listeners where a refusal's code says that there is no session. */
export function noticeEndOfSession(code: string | undefined): void {
  if (code !== "UNAUTHENTICATED") return;
  for (const callback of listeners) callback();
}
