/** The held forex instruments that convert the currencies of a run. */
import type { Db } from "../../db/client.ts";
import { findForexPairs, type Instrument } from "../../db/instruments.ts";
import { pairNames } from "../feeds/quote_currency.ts";

/** A forex instrument that says what a currency is worth in another. */
export interface Conversion {
  readonly instrument: Instrument;
  /** True if its price is that of the other currency in this one. */
  readonly isInverse: boolean;
}

/** The conversion between two currencies cannot be found, or nobody has said into which to convert. */
export class CurrencyError extends Error {
  override readonly name = "CurrencyError";
}

/** An instrument, as far as its conversion depends on it. */
export type Quoted = Pick<Instrument, "currency" | "provider">;

/**
 * The currencies of instruments that have to be converted, in the order of their names.
 *
 * @param instruments A currency of null is the account's. @param base Of the account; null: that of its instruments.
 * @throws {CurrencyError} When they differ and nobody has said into which to convert.
 */
export function foreignCurrencies(instruments: readonly Quoted[], base: string | null): readonly string[] {
  const currencies = new Set(instruments.map(({ currency }) => currency));
  const known = [...currencies].filter((currency) => currency !== null).sort();
  if (base !== null) return known.filter((currency) => currency !== base);
  if (known.length <= 1) return [];
  throw new CurrencyError(
    `execution.baseCurrency is required: the instruments are quoted in ${
      known.join(", ")
    }; choose the account's currency`,
  );
}

/**
 * The instruments that convert a currency, the better one first: the pair itself before the inverse one, then the older one. Invented
 * rates convert invented instruments alone.
 *
 * @param instruments Those of the run. @throws {CurrencyError} Where there is none, with the name of the pair.
 */
export async function findConversions(
  db: Db,
  { from, to, instruments }: { readonly from: string; readonly to: string; readonly instruments: readonly Quoted[] },
): Promise<[Conversion, ...Conversion[]]> {
  const direct = pairNames(from, to);
  const held = await findForexPairs(db, [...direct, ...pairNames(to, from)]);
  const isSample = instruments.every(({ provider, currency }) => provider === "sample" || currency !== from);
  const pairs = isSample ? held : held.filter(({ provider }) => provider !== "sample");
  const isDirect = ({ symbol }: Instrument) => direct.includes(symbol);
  const [first, ...others] = [
    ...pairs.filter(isDirect).map((instrument) => ({ instrument, isInverse: false })),
    ...pairs.filter((pair) => !isDirect(pair)).map((instrument) => ({ instrument, isInverse: true })),
  ];
  if (first !== undefined) return [first, ...others];
  throw new CurrencyError(
    `cannot be converted from ${from} into ${to}: no forex instrument ${from}${to} or ${to}${from} is held; import its candles`,
  );
}
