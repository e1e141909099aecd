import { expect } from "@std/expect";
import { sql } from "drizzle-orm";
import { openPostgres } from "../../db/client.ts";
import { isDatabaseFault, isDatabaseShortage } from "../../db/faults.ts";
import { errorStatus, toAppError } from "../../routers/common/errors.ts";
import { createTestDatabase } from "../support/database.ts";

const caught = (attempt: Promise<unknown>) => attempt.then(() => null, (error: unknown) => error);

Deno.test("an ended connection and a server that does not answer are faults of the database, a wrong statement is none", async () => {
  const { url, drop } = await createTestDatabase();
  const { db, close } = await openPostgres(url, 1);
  const ended = await caught(db.execute(sql`select pg_terminate_backend(pg_backend_pid())`));
  expect([ended instanceof Error, isDatabaseFault(ended)]).toEqual([true, true]);
  const wrong = await caught(db.execute(sql`select 1 / 0`));
  expect([wrong instanceof Error, isDatabaseFault(wrong)]).toEqual([true, false]);
  const away = new URL(url);
  // Nobody listens on a port of TCP's own.
  away.port = "1";
  expect(isDatabaseFault(await caught(openPostgres(away.href, 1)))).toBe(true);
  expect(isDatabaseFault("ECONNREFUSED")).toBe(false);
  await close();
  await drop();
});

/** PostgreSQL's and the system's codes: the status of an answer, and whether work waits for a better time. */
const CODES: Readonly<Record<string, readonly [status: number, waits: boolean]>> = {
  // A lost connection, a server that stops or starts, too many connections.
  "08006": [503, true],
  "57P01": [503, true],
  "57P03": [503, true],
  "53300": [503, true],
  // A disk that is full, or that cannot be read; a database that is read-only meanwhile.
  "53000": [503, true],
  "53100": [503, true],
  "58030": [503, true],
  "25006": [503, true],
  ENOSPC: [503, true],
  EDQUOT: [503, true],
  EMFILE: [503, true],
  ENFILE: [503, true],
  // The statement may be to blame: a client may try again, a worker gives up after a few attempts.
  "53200": [503, false],
  "53400": [503, false],
  "58000": [503, false],
  "58P01": [503, false],
  "58P02": [503, false],
  // Two transactions at once.
  "40001": [503, true],
  "40P01": [503, true],
  // Faults of ours.
  "23505": [500, false],
  "42601": [500, false],
  "22003": [500, false],
  "57014": [500, false],
  ENOENT: [500, false],
};

Deno.test("a code of the database or of its disk decides whether a client and a worker try again", () => {
  for (const [code, [status, waits]] of Object.entries(CODES)) {
    const error = new Error("outer", { cause: Object.assign(new Error("inner"), { code }) });
    const group = new AggregateError([new Error("other"), error]);
    for (const each of [error, group]) {
      expect([code, errorStatus(toAppError(each)), isDatabaseFault(each)]).toEqual([code, status, waits]);
      expect([code, isDatabaseShortage(each)]).toEqual([code, status === 503 && !waits]);
    }
  }
});
