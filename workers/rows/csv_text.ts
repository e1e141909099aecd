/** A value as CSV (RFC 4180) has it: null and NaN are empty, times ISO 8601. */
export function csvText(value: unknown, isTime: boolean): string {
  if (value === null || Number.isNaN(value)) return "";
  if (isTime) return new Date(Number(value)).toISOString();
  if (typeof value !== "string") return String(value);
  return /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}
