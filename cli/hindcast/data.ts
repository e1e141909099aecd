/** Candles: what is held, and how more come in. */
import { basename, resolve } from "node:path";
import { z } from "zod";
import { drawRows, NONE } from "../drawing.ts";
import { guessSeries, readOrder } from "../guess_series.ts";
import { invocationFolder } from "../invocation.ts";
import { say } from "../terminal.ts";
import { collect, SECRET_UNKNOWN } from "./caller.ts";
import { callerFor, outputFor, print, serviceCommand } from "./command.ts";
import { CommandError, EXIT, usageError } from "../exit_codes.ts";
import { readNumber } from "../values.ts";

const importSchema = z.looseObject({
  imported: z.number(),
  rejected_count: z.number(),
  rejected: z.array(z.object({ line: z.number(), reason: z.string() })),
  dialect: z.looseObject({ name: z.string() }),
});
const REASONS_SHOWN = 5;

/** `hindcast markets`. */
export const marketsCommand = serviceCommand("markets", "List the instruments whose candles the service holds")
  .argument("[search]", "a part of a symbol or exchange")
  .option("-n, --limit <count>", "the most rows that are listed", "50")
  .action(async (search, { limit, ...options }) => {
    const caller = callerFor(options);
    const output = outputFor(options);
    const asked = search === undefined ? {} : { search };
    const read = caller.api.marketData.instruments.query;
    const { items, next_cursor } = await collect(
      caller,
      readNumber("--limit", limit),
      (page) => read({ ...asked, ...page }),
      ({ instruments }) => instruments,
    );
    const rows = items.map(({ symbol, exchange, assetClass, first, last }) => [
      `${symbol}@${exchange}`,
      assetClass,
      first?.slice(0, 10) ?? NONE,
      last?.slice(0, 10) ?? NONE,
    ]);
    print(
      output,
      { instruments: items, next_cursor },
      rows.length === 0
        ? `No market's symbol or exchange has ${JSON.stringify(search ?? "")}. hindcast import brings candles.`
        : drawRows(["Market", "Class", "First", "Last"], rows, output),
    );
  });

/** `hindcast import`. */
export const importCommand = serviceCommand(
  "import",
  "Import files of candles; it needs a token of the scope admin, or INGESTION_ADMIN_SECRET",
)
  .argument("<files...>", "CSV as Yahoo, TradingView, MetaTrader, Binance and others write it, also .gz or .zip")
  .option("--symbol <symbol>", "the symbol, of a single file (default: the file's name)")
  .option("--exchange <exchange>", "any name of yours or the exchange's own", "IMPORT")
  .option("-t, --timeframe <t>", "the length of a candle (default: the distance of the first lines)")
  .option(
    "--asset-class <class>",
    "forex, crypto or stock (default: stock for files that rest on weekends, else crypto)",
  )
  .option("--currency <currency>", "the currency of the prices, such as EUR (default: the account's)")
  .option("--date-order <order>", "ymd, dmy or mdy, for files whose dates do not tell")
  .action(async (files, { symbol, exchange, timeframe, assetClass, currency, dateOrder, ...options }) => {
    if (symbol !== undefined && files.length > 1) throw usageError("Cannot use --symbol for many files: name one");
    const caller = callerFor(options);
    const output = outputFor(options);
    const secret = Deno.env.get("INGESTION_ADMIN_SECRET") || undefined;
    const imports: object[] = [];
    for (const name of files) {
      const path = resolve(invocationFolder(), name);
      const guess = await guessSeries(path, { timeframe, dateOrder: readOrder(dateOrder) });
      const query = new URLSearchParams({
        symbol: symbol ?? symbolOf(path),
        exchange,
        timeframe: timeframe ?? guess.timeframe,
        assetClass: assetClass ?? (guess.restsOnWeekends ? "stock" : "crypto"),
        ...(currency === undefined ? {} : { currency }),
        ...(dateOrder === undefined ? {} : { dateOrder }),
      });
      const headers = {
        "content-type": "text/csv",
        ...(secret === undefined ? {} : { "x-ingestion-admin-secret": secret }),
      };
      const body = (await Deno.open(path)).readable;
      const sent = caller.send(`/api/admin/ingestion/import?${query}`, { method: "POST", headers, body });
      const answer = importSchema.parse(await (await (secret === undefined ? sent : naming(sent))).json());
      imports.push({ file: name, ...Object.fromEntries(query), ...answer });
      if (!output.isJson) say(describeImport(`${query.get("symbol")}@${exchange}`, answer));
    }
    if (output.isJson) print(output, { imports }, "");
  });

/** Has a refusal name the secret, which is wrong then. */
async function naming(sent: Promise<Response>): Promise<Response> {
  return await sent.catch((error) => {
    if (!(error instanceof CommandError) || error.code !== EXIT.forbidden) throw error;
    throw new CommandError(`${error.message}; ${SECRET_UNKNOWN}`, error.code, error.details);
  });
}

function symbolOf(path: string): string {
  return basename(path).replace(/\.(gz|zip)$/i, "").replace(/\.[^.]*$/, "").toUpperCase();
}

function describeImport(market: string, { imported, rejected_count, rejected, dialect }: z.infer<typeof importSchema>) {
  const lines = rejected.slice(0, REASONS_SHOWN).map(({ line, reason }) => `  line ${line}: ${reason}`);
  const candles = imported === 1 ? "1 candle" : `${imported} candles`;
  const refused = rejected_count === 1 ? "1 line" : `${rejected_count} lines`;
  return [`${market}: ${candles}, ${refused} rejected, dialect ${dialect.name}`, ...lines].join("\n");
}
