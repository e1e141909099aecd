/** A region of a heat map, as it stands in the address of the form for the next optimization. */
import { isRecord } from "../../parts/parameter_fields.ts";
import { settingLabel } from "./setting_axes.ts";

export type Value = string | number | boolean;
export type Pair = readonly [first: Value, last: Value];

/** The first and the last value of each parameter that is narrowed; the others keep their values. */
export type Region = Readonly<Record<string, Pair>>;

/** Reads a region of an address; undefined for anything else. */
export function readRegion(given: unknown): Region | undefined {
  if (!isRecord(given)) return undefined;
  return Object.fromEntries(Object.entries(given).flatMap(([name, pair]) => isPair(pair) ? [[name, pair]] : []));
}

/** `fast 4 to 6, slow 8 to 12`. */
export function describeRegion(region: Region): string {
  const parts = Object.entries(region).map(([name, [first, last]]) =>
    `${settingLabel(name)} ${first === last ? String(first) : `${first} to ${last}`}`
  );
  return parts.length === 0 ? "all that it tried" : parts.join(", ");
}

function isPair(given: unknown): given is Pair {
  return Array.isArray(given) && given.length === 2 &&
    given.every((value) => ["string", "number", "boolean"].includes(typeof value));
}
