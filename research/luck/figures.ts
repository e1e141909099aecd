/** A ratio in a sentence, as the console writes it beside the sentence: `−1.21`, with the minus sign that is as wide as a digit. */
export function writeRatio(value: number): string {
  return write(value, "");
}

/** A fraction in a sentence, as the console writes it: 0.36 is `36.00%`. */
export function writePercent(fraction: number): string {
  return write(100 * fraction, "%");
}

function write(value: number, unit: string): string {
  const size = Math.abs(value).toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
  // Rounding leaves no sign of a small loss.
  return `${value < 0 && /[1-9]/.test(size) ? "−" : ""}${size}${unit}`;
}
