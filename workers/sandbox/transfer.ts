/** The buffers of all columns in a value, to be transferred instead of copied; without shared memory. */
export function buffersOf(value: unknown, found = new Set<ArrayBuffer>()): Set<ArrayBuffer> {
  if (ArrayBuffer.isView(value)) {
    if (value.buffer instanceof ArrayBuffer) found.add(value.buffer);
  } else if (typeof value === "object" && value !== null) {
    for (const member of Object.values(value)) buffersOf(member, found);
  }
  return found;
}
