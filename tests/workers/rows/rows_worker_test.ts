import { expect } from "@std/expect";
import { zstdCompressSync } from "node:zlib";
import { encodeColumns } from "../../../db/codec/columns.ts";
import { decodeTrials } from "../../../db/codec/trial_rows.ts";
import type { Space } from "../../../research/space.ts";
import { type RowsAnswer, RowsWork } from "../../../workers/rows/rows_task.ts";
import { RowsClosed } from "../../../workers/rows/rows_closed.ts";
import { RowsWorker } from "../../../workers/rows/rows_worker.ts";
import { writeTrials } from "../../../workers/rows/write_trials.ts";
import { storeTrials } from "../../support/stored_trials.ts";
import { until } from "../../support/until.ts";

const SPACE: Space = { axes: [{ name: "n", count: 48, first: 1, step: 1, decimals: 0 }] };
const ALL = { format: "json", space: SPACE, rowsMax: 1000 } as const;

Deno.test("a thread writes and picks trials, and asks for each chunk once", async () => {
  const worker = new RowsWorker();
  try {
    let reads = 0;
    const stored = storeTrials(10);
    const source = { key: "a 0", record: "trials", read: () => (reads++, Promise.resolve(stored)) };
    const rows = decodeTrials(stored);
    const first = await worker.write(source, { ...ALL, fromPlace: 0, rowsMax: 4 });
    const rest = await worker.write(source, { ...ALL, fromPlace: first?.nextPlace ?? NaN });
    expect([first?.rows, first?.nextPlace, rest?.rows, rest?.nextPlace]).toEqual([4, 8, 6, null]);
    expect(first?.bytes).toEqual(writeTrials("json", SPACE, rows, { from: 0, until: 4 }));
    expect(rest?.bytes).toEqual(writeTrials("json", SPACE, rows, { from: 4, until: 10 }));

    const picked = await worker.pick(source, { places: [2, 3, 18] });
    expect([...picked!.columns.place!]).toEqual([2, 18]);
    expect(picked!.columns.sharpe).toEqual(Float64Array.of(rows.columns.sharpe![1]!, rows.columns.sharpe![9]!));
    const some = await worker.pick(source, { fromPlace: 3, rowsMax: 2 });
    expect([...some!.columns.place!]).toEqual([4, 6]);
    expect(reads).toBe(1);
    expect(
      await worker.write({ key: "b 0", record: "trials", read: () => Promise.resolve(undefined) }, {
        ...ALL,
        fromPlace: 0,
      }),
    )
      .toBeUndefined();
  } finally {
    worker.close();
  }
});

Deno.test("a thread orders rows by their keys, and keeps the order", async () => {
  const worker = new RowsWorker();
  try {
    const keys = () => Float64Array.of(2, NaN, -1e300, 0, -0, Infinity, 2, 1e-320, -3);
    const all = { from: 0, until: 9 };
    expect(await worker.order("up", null, all)).toBeUndefined();
    const up = await worker.order("up", { keys: keys(), isDown: false }, all);
    expect([[...up!.rows], up!.count]).toEqual([[2, 8, 3, 4, 7, 0, 6, 5], 8]);
    const down = await worker.order("down", { keys: keys(), isDown: true }, { from: 1, until: 4 });
    expect([[...down!.rows], down!.count]).toEqual([[0, 6, 7], 8]);
    const inside = await worker.order("up", null, { least: -3, most: 0, rowsMax: 3 });
    expect([[...inside!.rows], inside!.count]).toEqual([[8, 3, 4], 3]);
    const many = await worker.order("up", null, { least: -3, most: 2, rowsMax: 5 });
    expect([[...many!.rows], many!.count]).toEqual([[], 6]);
    const none = await worker.order("up", null, { least: 3, most: 2, rowsMax: 5 });
    expect([[...none!.rows], none!.count]).toEqual([[], 0]);
  } finally {
    worker.close();
  }
});

Deno.test("no list waits behind an order of millions of rows", async () => {
  const worker = new RowsWorker();
  try {
    const keys = Float64Array.from({ length: 4_000_000 }, (_, i) => Math.sin(i));
    const done: string[] = [];
    const draw = async () => {
      await worker.draw([[1, 2]]);
      done.push("draw");
    };
    await draw();
    const ordered = worker.order("all", { keys, isDown: false }, { from: 0, until: 1 }).then(() => done.push("order"));
    await draw();
    expect(done).toEqual(["draw", "draw"]);
    await ordered;
  } finally {
    worker.close();
  }
});

Deno.test("a thread cuts rows out of chunks of trades, with both tags of each", async () => {
  const worker = new RowsWorker();
  try {
    let reads = 0;
    const data = encodeColumns({ price: Float64Array.of(1, 2, 3, 4) });
    const tags = zstdCompressSync(JSON.stringify(["a", null, "c", null, null, "B", "C", null]));
    const stored = { data, candles: null, tags };
    const source = { key: "a 0", record: "trades", read: () => (reads++, Promise.resolve(stored)) };
    const some = await worker.cut(source, { from: 1, until: 3 });
    expect(some).toEqual({ count: 2, columns: { price: Float64Array.of(2, 3) }, tags: [null, "c", "B", "C"] });
    expect(await worker.cut(source, { from: 3, until: 9 })).toMatchObject({ count: 1, tags: [null, null] });
    expect(await worker.cut(source, { from: 4, until: 9 })).toMatchObject({ count: 0, tags: [] });
    const picked = { count: 3, columns: { price: Float64Array.of(3, 1, 3) }, tags: ["c", "a", "c", "C", null, "C"] };
    expect(await worker.cut(source, { places: [2, 0, 2] })).toEqual(picked);
    expect(reads).toBe(1);
    const none = { key: "b 0", record: "trades", read: () => Promise.resolve(undefined) };
    expect(await worker.cut(none, { from: 0, until: 1 })).toBeUndefined();
  } finally {
    worker.close();
  }
});

Deno.test("a thread gives a chunk of a curve again and again, and asks for it once", async () => {
  const worker = new RowsWorker();
  try {
    let reads = 0;
    const curve = {
      time: Float64Array.of(1, 2, 3),
      equity: Float64Array.of(100, 100, 102),
      position: Float64Array.of(0, 2, 2),
    };
    const stored = { data: encodeColumns(curve), candles: null, tags: null };
    const source = { key: "a 0", record: "equity", read: () => (reads++, Promise.resolve(stored)) };
    for (let i = 0; i < 2; i++) expect(await worker.curve(source)).toEqual(curve);
    expect(reads).toBe(1);
    const damaged = { ...source, key: "b 0", read: () => Promise.resolve({ ...stored, data: new Uint8Array(9) }) };
    await expect(worker.curve(damaged)).rejects.toThrow("Cannot read the equity");
    expect(await worker.curve({ ...source, key: "c 0", read: () => Promise.resolve(undefined) })).toBeUndefined();
  } finally {
    worker.close();
  }
});

Deno.test("damaged bytes are that task's error, and the thread goes on", async () => {
  const worker = new RowsWorker();
  try {
    const stored = storeTrials(3);
    const damaged = { ...stored, data: stored.data.map((byte, i) => i === 30 ? byte ^ 1 : byte) };
    const write = (key: string, chunk: typeof stored) =>
      worker.write({ key, record: "trials", read: () => Promise.resolve(chunk) }, { ...ALL, fromPlace: 0 });
    await expect(write("a 0", damaged)).rejects.toThrow("Cannot read columns");
    expect((await write("b 0", stored))?.rows).toBe(3);
  } finally {
    worker.close();
  }
});

Deno.test("a closed thread ends what it has begun, and begins nothing more", async () => {
  const worker = new RowsWorker();
  const source = { key: "a 0", record: "trials", read: () => Promise.resolve(storeTrials(3)) };
  const write = () => worker.write(source, { ...ALL, fromPlace: 0 });
  const begun = write();
  worker.close();
  await expect(begun).rejects.toThrow(RowsClosed);
  await expect(write()).rejects.toThrow(RowsClosed);
});

Deno.test("an idle thread ends, and the next task starts another, which asks for its chunks again", async () => {
  const worker = new RowsWorker(0);
  let reads = 0;
  const source = { key: "a 0", record: "trials", read: () => (reads++, Promise.resolve(storeTrials(3))) };
  await until(async () => {
    expect((await worker.write(source, { ...ALL, fromPlace: 0 }))?.rows).toBe(3);
    return reads > 1;
  });
  worker.close();
});

Deno.test("decoded chunks are kept up to a number of bytes, the last used ones longest", () => {
  const bytesEach = Object.values(decodeTrials(storeTrials(10)).columns).reduce(
    (sum, { byteLength }) => sum + byteLength,
    0,
  );
  const work = new RowsWork(2 * bytesEach);
  const ask = (key: string, isSent: boolean): RowsAnswer["type"] =>
    work.do({ ...ALL, kind: "write", key, chunk: isSent ? storeTrials(10) : null, fromPlace: 0 }).type;
  expect([ask("a", true), ask("b", true), ask("a", false), ask("c", true)]).toEqual(Array(4).fill("written"));
  expect([ask("a", false), ask("b", false), ask("c", false)]).toEqual(["written", "missing", "written"]);
});
