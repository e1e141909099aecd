/** Powers of ten up to this one are exact as numbers. */
const DECIMALS_MAX = 22;

/** Finds how many decimals write each number down exactly as JSON has it: 0.1 has one, 1e-8 has eight, 250 none. @param numbers Finite. */
export function countDecimals(numbers: readonly number[]): number {
  return Math.max(
    0,
    ...numbers.map((number) => {
      const [mantissa = "", exponent = "0"] = String(number).split("e");
      return (mantissa.split(".")[1]?.length ?? 0) - Number(exponent);
    }),
  );
}

/**
 * A number as a whole count of 10^-decimals.
 *
 * @param decimals At least those of the number.
 * @returns Undefined where the count is not exact: beyond 2^53 - 1, or with more than 22 decimals.
 */
export function toUnits(number: number, decimals: number): number | undefined {
  if (decimals > DECIMALS_MAX) return undefined;
  const [mantissa = "", exponent = "0"] = String(Math.abs(number)).split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  const zeros = decimals - fraction.length + Number(exponent);
  const units = Number(BigInt(whole + fraction) * 10n ** BigInt(zeros));
  if (!Number.isSafeInteger(units)) return undefined;
  // Without a negative zero, which JSON would not give back.
  return number < 0 ? 0 - units : units;
}

/** The number of a count of 10^-decimals. Both are exact, so the division gives the number that JSON reads. */
export function fromUnits(units: number, decimals: number): number {
  return units / 10 ** decimals;
}
