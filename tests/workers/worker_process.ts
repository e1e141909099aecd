/** A worker process for tests to kill: runs the backtests of a given database until it is ended. */
import { openPostgres } from "../../db/client.ts";
import { openQueue } from "../../workers/queue.ts";

const handle = await openPostgres(Deno.args[0] ?? "", 2);
const queue = await openQueue({ handle, runSecondsMax: 60 });
await queue.work(1);
