/** Reads trades with the line of docs/api.md in Debian's pandas: `deno task test:debian`. */
import { expect } from "@std/expect";
import { columnsOf } from "../../routers/common/formats.ts";
import { tradeSchema } from "../../routers/backtests/backtest_records.ts";
import { writeTable } from "../../server/answers/encode_table.ts";
import { toTablePart } from "../../workers/rows/table_part.ts";
import { blockIn, readPage } from "../support/pages.ts";

/** An open trade, the columns that the line names among the others. */
const TRADE = {
  number: 1,
  side: "long",
  quantity: 0.5,
  entry_time: "2024-01-01T00:00:00.000Z",
  entry_price: 10,
  exit_time: null,
  exit_price: null,
  fees: 0,
  pnl: -1.25,
  return: -0.25,
  candles: 3,
  mae: 0.25,
  mfe: 0,
  exit_reason: null,
  ambiguous: false,
  tag: 'a "big", one',
  entry_order: 1,
  exit_order: null,
  exit_tag: null,
  instrument: null,
  currency: null,
};

Deno.test("pandas reads trades with the page's line", async () => {
  const line = blockIn(await readPage("docs/api.md"), "python", "pandas.read_csv");
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const columns = columnsOf(tradeSchema);
  const closed = { ...TRADE, number: 2, exit_time: "2024-01-02T00:00:00.000Z", exit_price: 7.5, exit_reason: "signal" };
  const csv = writeTable("csv", columns, [toTablePart(columns, [TRADE, closed])]);
  await Deno.writeFile(`${folder}/trades.csv`, ReadableStream.from(csv));
  const script = `import pandas\nframe = ${line}
print(frame.entry_time.dtype, frame.exit_time.dtype, frame.pnl.sum(), frame.tag[0], list(frame.columns))`;
  const { stdout, stderr } = await new Deno.Command("/usr/bin/python3", { args: ["-c", script], cwd: folder }).output();
  const names = columns.map(({ name }) => `'${name}'`).join(", ");
  expect([new TextDecoder().decode(stderr), new TextDecoder().decode(stdout)])
    .toEqual(["", `datetime64[ns, UTC] datetime64[ns, UTC] -2.5 a "big", one [${names}]\n`]);
  await Deno.remove(folder, { recursive: true });
});
