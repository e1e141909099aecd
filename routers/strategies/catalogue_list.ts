import { z } from "zod";
import type { Db } from "../../db/client.ts";
import { RUNTIME_TYPES } from "../../db/schema.ts";
import { listStrategies } from "../../db/strategies.ts";
import { BUILTIN_DESCRIPTIONS } from "../../strategies/builtin/catalogue/descriptions.ts";
import { decodeCursor, type List } from "../common/paging.ts";
import { leavingOutUnreadable } from "../common/stored_records.ts";
import { builtinEntry, type Entry, registryEntry } from "./strategy_entry.ts";

export const catalogueFilters = {
  search: z.string().max(100).optional(),
  runtime_type: z.enum(["builtin", ...RUNTIME_TYPES]).optional(),
  source: z.enum(["builtin", "registry"]).optional(),
};

type Filters = { readonly [K in keyof typeof catalogueFilters]: z.infer<(typeof catalogueFilters)[K]> };

interface Row {
  /** @throws {UnreadableRecord} */
  readonly entry: () => Entry;
  /** The slug of a built-in strategy, or the id of a registered one. */
  readonly key: string;
}

/** The catalogue as a user sees it: built-in strategies, then their own and public ones, newest first. An entry has up to 80 KiB. */
export function catalogueList<Item>(
  db: Db,
  userId: string,
  filters: { readonly [K in keyof Filters]?: Filters[K] },
  show: (entry: Entry) => Item,
): List<Row, Item> {
  const { search, source, runtime_type: runtimeType } = filters;
  const read = async (after: string | undefined, limit: number) => {
    const before = isId(after) ? after : undefined;
    const builtins = before === undefined && source !== "registry" && (runtimeType ?? "builtin") === "builtin"
      ? listBuiltins(after, search).slice(0, limit)
      : [];
    const rest = limit - builtins.length;
    if (rest === 0 || source === "builtin" || runtimeType === "builtin") return builtins;
    const found = await listStrategies(db, { userId, search, runtimeType, before, limit: rest });
    return [...builtins, ...found.map((row) => ({ entry: () => registryEntry(row, userId), key: row.strategy.id }))];
  };
  return { read, key: (row) => row.key, show: leavingOutUnreadable((row) => show(row.entry())), pieceRows: 20 };
}

/** An entry as it is. */
export function fullEntry(entry: Entry): Entry {
  return entry;
}

/** The key in a cursor of the catalogue. */
export function afterEntry(cursor: string | undefined): string | undefined {
  return decodeCursor(cursor, z.union([z.uuid(), z.enum(BUILTIN_DESCRIPTIONS.map((one) => one.slug))]));
}

function isId(key: string | undefined): boolean {
  return key !== undefined && z.uuid().safeParse(key).success;
}

function listBuiltins(after: string | undefined, search: string | undefined): Row[] {
  const begin = BUILTIN_DESCRIPTIONS.findIndex((one) => one.slug === after) + 1;
  return BUILTIN_DESCRIPTIONS.slice(begin).map(builtinEntry).filter((entry) => mentions(entry, search))
    .map((entry) => ({ entry: () => entry, key: entry.slug }));
}

function mentions(entry: Entry, search: string | undefined): boolean {
  if (search === undefined) return true;
  const needle = search.toLowerCase();
  return [entry.slug, entry.name, entry.description].some((text) => text.toLowerCase().includes(needle));
}
