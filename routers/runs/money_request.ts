/** The part of a submission over many markets that says in which currency its account is. */
import { z } from "zod";
import { findCurrencies } from "../../db/instruments.ts";
import type { Member } from "../../db/universes.ts";
import { CurrencyError, findConversions, foreignCurrencies } from "../../market/on_demand/conversions.ts";
import { AppError } from "../common/errors.ts";
import type { UserContext } from "../common/trpc.ts";
import type { Parameters } from "../strategies/parameters.ts";

const wantedSchema = z.object({ execution: z.object({ baseCurrency: z.string().nullish() }).nullish() });

/** @throws AppError For a run over one market: its account is in the currency of its instrument. */
export function refuseBaseCurrency(parameters: Parameters, path: string): void {
  if (baseCurrencyOf(parameters) === null) return;
  throw refuse(path, "needs instruments or a universe: an account with one market has its instrument's currency");
}

/** Refuses instruments whose currencies cannot be converted, as far as they are held. @throws AppError INVALID_PARAMETERS */
export async function requireConvertible(
  { db }: UserContext,
  parameters: Parameters,
  members: readonly Member[],
  path: string,
): Promise<void> {
  const base = baseCurrencyOf(parameters);
  const held = await findCurrencies(db, [...new Set(members.map(({ symbol }) => symbol))]);
  const byName = new Map(held.map((each) => [JSON.stringify([each.symbol, each.exchange.toUpperCase()]), each]));
  for (const each of held) byName.set(JSON.stringify([each.symbol, each.exchange]), each);
  const instruments = members.flatMap(({ symbol, exchange }) =>
    byName.get(JSON.stringify([symbol, exchange])) ?? byName.get(JSON.stringify([symbol, exchange.toUpperCase()])) ?? []
  );
  try {
    for (const from of foreignCurrencies(instruments, base)) {
      await findConversions(db, { from, to: base ?? from, instruments });
    }
  } catch (error) {
    if (!(error instanceof CurrencyError)) throw error;
    throw refuse(path, error.message.replace(/^execution\.baseCurrency /, ""));
  }
}

function baseCurrencyOf(parameters: Parameters): string | null {
  return wantedSchema.safeParse(parameters).data?.execution?.baseCurrency ?? null;
}

function refuse(path: string, message: string): AppError {
  const at = `${path}/execution/baseCurrency`;
  return new AppError("INVALID_PARAMETERS", `Cannot hold several currencies: ${at} ${message}`, {
    issues: [{ path: at, message }],
  });
}
