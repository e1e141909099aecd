export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
/** A year of 365 days. */
export const YEAR_MS = 365 * DAY_MS;
