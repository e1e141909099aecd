/** The canonical NaN: quiet, positive, without payload. */
const NAN_BITS = 0x7ff8000000000000n;

/**
 * Gives every NaN in columns of numbers the same bits, in place, and returns the columns.
 *
 * A NaN has many bit patterns. The machine, and even the compiler's tier, decides which of them a calculation produces, so
 * that the same run could otherwise give other bytes.
 */
export function withCanonicalNaN<T extends object>(columns: T): T {
  for (const column of Object.values(columns)) {
    if (!(column instanceof Float64Array)) continue;
    const bits = new BigUint64Array(column.buffer, column.byteOffset, column.length);
    for (let k = 0; k < column.length; k++) {
      if (Number.isNaN(column[k])) bits[k] = NAN_BITS;
    }
  }
  return columns;
}
