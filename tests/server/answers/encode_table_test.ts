import { expect } from "@std/expect";
import { tableFromIPC } from "apache-arrow";
import { z } from "zod";
import { columnsOf } from "../../../routers/common/formats.ts";
import { writeTable } from "../../../server/answers/encode_table.ts";
import { toTablePart } from "../../../workers/rows/table_part.ts";

const columns = columnsOf(z.object({
  number: z.int(),
  time: z.iso.datetime().nullable(),
  price: z.number().nullable(),
  isOpen: z.boolean(),
  side: z.enum(["long", "short"]),
  tag: z.string().nullable(),
}));
const ROWS = [
  { number: 1, time: "2024-01-02T03:04:05.678Z", price: -0.1, isOpen: false, side: "long", tag: 'a "b", c' },
  { number: 2, time: null, price: null, isOpen: true, side: "short", tag: null },
  { number: 3, time: "1969-12-31T23:59:59.999Z", price: 1e21, isOpen: true, side: "long", tag: "two\nlines é" },
];

/** Two parts, the second of one row. */
const write = (format: "csv" | "arrow") =>
  new Response(ReadableStream.from(
    writeTable(format, columns, [toTablePart(columns, ROWS.slice(0, 2)), toTablePart(columns, ROWS.slice(2))]),
  ));

Deno.test("a column has the kind of its schema", () => {
  expect(columns.map(({ kind, isNullable }) => `${kind}${isNullable ? "?" : ""}`)).toEqual(
    ["integer", "time?", "number?", "boolean", "text", "text?"],
  );
});

Deno.test("CSV quotes commas, quotes and line ends, and leaves null empty", async () => {
  expect(await write("csv").text()).toBe(`number,time,price,isOpen,side,tag
1,2024-01-02T03:04:05.678Z,-0.1,false,long,"a ""b"", c"
2,,,true,short,
3,1969-12-31T23:59:59.999Z,1e+21,true,long,"two\nlines é"
`);
});

Deno.test("Arrow holds the same rows with their types and nulls", async () => {
  const table = tableFromIPC(await write("arrow").bytes());
  expect(table.schema.fields.map(({ type }) => String(type))).toEqual(
    ["Int32", "Timestamp<MILLISECOND, UTC>", "Float64", "Bool", "Utf8", "Utf8"],
  );
  const rows = table.toArray().map((row) => ({ ...row.toJSON() }));
  expect(rows).toEqual(ROWS.map((row) => ({ ...row, time: row.time === null ? null : Date.parse(row.time) })));
  expect(table.batches.length).toBe(2);
});

Deno.test("a table without rows has its columns", async () => {
  const empty = new Response(ReadableStream.from(writeTable("arrow", columns, [])));
  const table = tableFromIPC(await empty.bytes());
  expect([table.numRows, table.schema.fields.length]).toEqual([0, 6]);
});
