// Currencies and metals of which Dukascopy has pairs.
const KNOWN = new Set(
  ("AED AUD CAD CHF CNH CZK DKK EUR GBP HKD HUF ILS JPY MXN NOK NZD PLN RON SAR SEK SGD THB TRY USD ZAR XAG XAU")
    .split(" "),
);

// Prices are whole numbers of points. Most pairs have 100,000 to the unit; those with larger prices have fewer.
const USUAL = 100_000;
const BY_QUOTE: Readonly<Record<string, number>> = { JPY: 1_000, HUF: 1_000, THB: 1_000, CZK: 10_000 };
const METALS = 1_000;
const EXCEPTIONS = [
  [10, "XAUCZK XAUHUF XAUJPY XAUMXN XAUTHB XAUTRY XAUZAR"],
  [100, "USDAED USDSAR"],
  [1_000, "NZDHKD"],
  [10_000, "CZKHUF CZKJPY MXNHUF USDTHB"],
  [
    100_000,
    "AEDHUF DKKJPY HKDJPY JPYHUF MXNJPY NOKJPY PLNTHB SEKJPY THBHUF THBJPY TRYTHB XAUXAG",
  ],
  [1_000_000, "AUDCNH CZKTHB CZKTRY MXNCZK MXNTHB"],
] as const;
const exceptions = new Map(
  EXCEPTIONS.flatMap(([points, pairs]) => pairs.split(" ").map((pair) => [pair, points] as const)),
);

/**
 * How many points are one unit of a pair's price in Dukascopy's files, which do not say it themselves.
 *
 * @param pair Six capitals, EURUSD.
 * @returns Undefined for anything but a pair of currencies or metals that Dukascopy has: a guess would be a price ten or a hundred times too high.
 * @see The price scales in Dukascopy's own list of instruments, as github.com/Leo4815162342/dukascopy-node has collected them
 *   (`decimalFactor`), November 2026.
 */
export function pointsPerUnit(pair: string): number | undefined {
  const [base, quote] = [pair.slice(0, 3), pair.slice(3)];
  if (!KNOWN.has(base) || !KNOWN.has(quote)) return undefined;
  const isMetal = base === "XAU" || base === "XAG";
  return exceptions.get(pair) ?? (isMetal ? METALS : BY_QUOTE[quote] ?? USUAL);
}
