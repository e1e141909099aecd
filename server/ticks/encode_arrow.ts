import { ArrowWriter } from "../../workers/rows/arrow_writer.ts";
import type { Rows } from "./tick_writer.ts";

const VALUES = ["open", "high", "low", "close", "volume"] as const;

/** Candles as an Arrow IPC stream, a record batch at a time. */
export class ArrowTickWriter {
  readonly #writer: ArrowWriter;

  /** @param about The schema's metadata. */
  constructor(about: Readonly<Record<string, string>>) {
    const columns = VALUES.map((name) => ({ name, kind: "number" as const, isNullable: false }));
    this.#writer = new ArrowWriter([{ name: "timestamp", kind: "time", isNullable: false }, ...columns], about);
  }

  /** The first message: the schema. */
  start(): Uint8Array<ArrayBuffer> {
    return this.#writer.start();
  }

  batch(rows: Rows): Uint8Array<ArrayBuffer> {
    return this.#writer.batch(rows.time.length, [rows.time, ...VALUES.map((name) => rows[name])]);
  }

  /** The end marker. */
  end(): Uint8Array<ArrayBuffer> {
    return this.#writer.end();
  }
}
