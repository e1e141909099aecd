/**
 * Submissions over HTTP, one after the other, to a service without workers. Beside each, in the same run: the same over HTTP to a
 * handler that does the least, and its statements without HTTP.
 *
 * `deno run --allow-all bench/submit_bench.ts [submissions]`; with TEST_DATABASE_URL as `deno task bench` sets it.
 */
import { BACKTEST } from "../tests/support/client.ts";
import { startProcess } from "../tests/support/process.ts";
import { measureBareSubmit, measureOwnSubmit, openBare } from "./bare_submission.ts";
import { type Kind, KINDS, makeDatabase } from "./both_databases.ts";
import { median, readCpuMs, report } from "./measure.ts";

const count = Number(Deno.args[0] ?? 301);
// The code becomes quick with use.
const WARM_UP = 200;
const BARE_SERVER = new URL("bare_server.ts", import.meta.url).pathname;

/** A server of submissions. */
interface Submitter {
  readonly url: string;
  readonly pid: number;
  readonly cookie: string;
}

for (const kind of KINDS) await measure(kind);

async function measure(kind: Kind): Promise<void> {
  await using opened = new AsyncDisposableStack();
  const own = await startOwn(kind, opened);
  const bareServer = await startBare(kind, opened);
  for (let k = 0; k < WARM_UP; k++) for (const server of [own, bareServer]) await submit(server);
  const [ownMs, leastMs]: [number[], number[]] = [[], []];
  const cpu = [own, bareServer].map(({ pid }) => readCpuMs(pid));
  for (let k = 0; k < count; k++) {
    // Alternating, because other processes may load the machine for a while.
    ownMs.push(await submit(own));
    leastMs.push(await submit(bareServer));
  }
  const [ownCpu = NaN, leastCpu = NaN] = [own, bareServer].map(({ pid }, index) =>
    (readCpuMs(pid) - (cpu[index] ?? NaN)) / count
  );
  const bare = await openBare(kind);
  opened.defer(() => bare.close());
  const bareMs = await measureBareSubmit(bare);
  const least = "the least handler";
  await report({
    measure: `${kind}: a submission over HTTP`,
    ours: median(ownMs),
    reference: { name: least, value: median(leastMs) },
    goal: { of: "ratio", most: 1.5 },
  });
  await report({
    measure: `${kind}: processor time of a submission`,
    ours: ownCpu,
    reference: { name: least, value: leastCpu },
  });
  await report({
    measure: `${kind}: its statements without HTTP`,
    ours: await measureOwnSubmit(bare),
    reference: { name: `${least}'s`, value: bareMs },
  });
}

async function startOwn(kind: Kind, opened: AsyncDisposableStack): Promise<Submitter> {
  const { environment, drop } = await makeDatabase(kind);
  opened.defer(drop);
  const process = await startProcess("serve", { WORKERS: "0", USER_BACKTESTS_MAX: "100000", ...environment });
  opened.defer(async () => void await process.end("SIGTERM"));
  const client = process.client();
  await client.signUp();
  return { url: process.url, pid: process.pid, cookie: client.cookie };
}

async function startBare(kind: string, opened: AsyncDisposableStack): Promise<Submitter> {
  const process = new Deno.Command(Deno.execPath(), {
    args: ["run", "--allow-all", BARE_SERVER, kind],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const reader = process.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const { value = "" } = await reader.read();
  opened.defer(async () => {
    await process.stdin.close();
    await reader.cancel();
    await process.status;
  });
  return { url: value.trim(), pid: process.pid, cookie: "token=token" };
}

/** @returns Milliseconds. */
async function submit({ url, cookie }: Submitter): Promise<number> {
  const begun = performance.now();
  const answer = await fetch(`${url}/api/backtests`, {
    method: "POST",
    headers: { cookie, "content-type": "application/json" },
    body: JSON.stringify({ backtest: BACKTEST }),
  });
  const text = await answer.text();
  const tookMs = performance.now() - begun;
  if (answer.status !== 202) throw new Error(`Cannot submit: ${answer.status} ${text}`);
  return tookMs;
}
