const leftOpen = new Set<() => Promise<unknown>>();

// Within the test's own check for leaks. Where there are no tests, as in benches, this declares nothing.
Deno.test.afterEach(async () => {
  const faults: unknown[] = [];
  for (const close of [...leftOpen].reverse()) await close().catch((fault) => faults.push(fault));
  if (faults.length > 0) throw new AggregateError(faults, "Cannot close what the test left open");
});

/**
 * Has something closed at the end of the test that opened it, whatever happens in the test: a service that a failed test leaves open
 * would fail the tests after it.
 *
 * @returns Closes it, once: whoever calls it again waits for the same end.
 */
export function closedAfterTest<Result>(close: () => Promise<Result>): () => Promise<Result> {
  let closing: Promise<Result> | undefined;
  const closeOnce = () => {
    leftOpen.delete(closeOnce);
    return closing ??= close();
  };
  leftOpen.add(closeOnce);
  return closeOnce;
}
