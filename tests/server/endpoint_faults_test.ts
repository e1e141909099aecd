/** Programs that decide as `serve:NAME`, killed and lost: real processes, under the permissions that users give them. */
import { expect } from "@std/expect";
import { denoArguments } from "../../cli/commands.ts";
import { inCluster } from "../support/cluster.ts";
import { BACKTEST, TestClient } from "../support/client.ts";
import { freePort } from "../support/free_port.ts";
import { ROOT } from "../support/pages.ts";
import { readUntil, until } from "../support/until.ts";

const RANGE = { ...BACKTEST, start_date: "2024-01-01", end_date: "2024-07-01" };
const OWN = { fast: 24, slow: 96, direction: "both" };
const LOOKBACK = 97;
const EXAMPLE = `${ROOT}strategies/examples/python/sma_cross.py`;
// A program that says nothing for so long has nothing to say.
const SILENCE_MS = 60_000;

// Says each request that it gets, and answers it after a line on standard input.
const PROGRAM = `
import importlib.util, sys, hindcast
spec = importlib.util.spec_from_file_location("example", sys.argv[1])
example = importlib.util.module_from_spec(spec)
spec.loader.exec_module(example)
def decide(request):
    print("asked", request["first_asked"], flush=True)
    if not sys.stdin.readline():
        sys.exit(0)
    return example.decide(request)
hindcast.serve(decide, "mine", log=lambda line: print(line, flush=True))
`;

/** A program of the author's, which gets requests and answers as many as it is allowed to. */
interface Program {
  /** Waits until it has got another request. */
  asked(): Promise<void>;
  /** Waits until it has said that it found no service. */
  trying(): Promise<void>;
  allow(requests: number): Promise<void>;
  kill(): Promise<void>;
}

type StartProgram = (url: string, token: string) => Promise<Program>;

/** Waits for a text, for a bounded time. */
async function waitFor(reader: ReadableStreamDefaultReader<string>, pattern: RegExp): Promise<string> {
  const timer = setTimeout(() => void reader.cancel(), SILENCE_MS);
  const text = await readUntil(reader, pattern);
  clearTimeout(timer);
  return text;
}

/** One that decides within the Python package's loop. */
function startPython(url: string, token: string): Promise<Program> {
  const process = new Deno.Command("python3", {
    args: ["-c", PROGRAM, EXAMPLE],
    env: { PYTHONPATH: `${ROOT}client/python`, HINDCAST_URL: url, HINDCAST_TOKEN: token, HOME: "/nonexistent" },
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const reader = process.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const writer = process.stdin.getWriter();
  return Promise.resolve({
    asked: async () => void await waitFor(reader, /asked/),
    trying: async () => void await waitFor(reader, /Trying again/),
    allow: (requests) => writer.write(new TextEncoder().encode("\n".repeat(requests))),
    async kill() {
      process.kill("SIGKILL");
      await process.status;
      await reader.cancel();
      await writer.abort();
    },
  });
}

/** `hindcast strategy serve` in front of an endpoint, whose requests pass a gate. */
async function startCommand(url: string, token: string): Promise<Program> {
  const endpoint = new Deno.Command("python3", { args: [EXAMPLE, "--port", "0"], stdout: "piped" }).spawn();
  const said = endpoint.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const [target = ""] = /http:\S+/.exec(await waitFor(said, /\n/)) ?? [];
  let [requests, seen, allowed, isClosed] = [0, 0, 0, false];
  const gate = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, async (request) => {
    const own = ++requests;
    const body = await request.text();
    // One that asks again has given up its last request.
    const isDropped = () => isClosed || own < requests;
    await until(() => isDropped() || allowed > 0);
    if (isDropped()) return new Response(null, { status: 499 });
    allowed--;
    return await fetch(target, { method: "POST", headers: request.headers, body });
  });
  const process = new Deno.Command(Deno.execPath(), {
    args: [
      ...denoArguments("hindcast", ".data"),
      ...["strategy", "serve", `http://127.0.0.1:${gate.addr.port}/`, "--name", "mine"],
    ],
    cwd: ROOT,
    env: { NO_COLOR: "1", HINDCAST_URL: url, HINDCAST_TOKEN: token },
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const reader = process.stderr.pipeThrough(new TextDecoderStream()).getReader();
  return {
    asked: async () => void await until(() => requests > seen && ++seen, SILENCE_MS),
    trying: async () => void await waitFor(reader, /Trying again/),
    allow(more) {
      allowed += more;
      return Promise.resolve();
    },
    async kill() {
      isClosed = true;
      for (const each of [process, endpoint]) each.kill("SIGKILL");
      await Promise.all([process.status, endpoint.status, reader.cancel(), said.cancel()]);
      await gate.shutdown();
    },
  };
}

for (const [name, startProgram] of Object.entries({ "in Python": startPython, "behind hindcast": startCommand })) {
  Deno.test(
    `a run is whole after its program ${name}, the API and the worker were killed in its middle`,
    () => killAll(startProgram),
  );
}

async function killAll(startProgram: StartProgram): Promise<void> {
  await inCluster(async (start) => {
    const port = freePort();
    const serve = () => start("serve", { PORT: String(port), WORKERS: "0" });
    const [first, worker] = await Promise.all([serve(), start("worker", {})]);
    const ada = new TestClient(first.url);
    await ada.signUp();
    const made = await ada.send("POST", "/api/tokens", { token: { name: "my model", scope: "serve" } });
    const token = String(made.at("/secret"));
    const submit = async (backtest: object) =>
      (await ada.send("POST", "/api/backtests", { backtest })).at("/backtest/id");
    const runtime = { type: "remote", endpoint: "serve:mine", lookbackCandles: LOOKBACK, timeoutMs: 10_000 };
    const id = await submit({ ...RANGE, strategy: "Mine", parameters: { ...RANGE.parameters, ...OWN, runtime } });

    const lost = await startProgram(first.url, token);
    await lost.asked();
    await lost.kill();
    // Another gets the same candles, once the time of the first is over.
    const program = await startProgram(first.url, token);
    await program.asked();

    await first.end("SIGKILL");
    await program.allow(1);
    await program.trying();
    const api = await serve();
    // The answer was not lost with the service: the program has it still, and gets the next request.
    await program.asked();

    await worker.end("SIGKILL");
    const heir = await start("worker", {});
    await program.allow(1000);
    const run = await ada.finish(id);
    expect([run.at("/backtest/status"), run.at("/backtest/error")]).toEqual(["completed", null]);
    expect(run.at("/backtest/result/integrity/determinism/status")).toBe("passed");

    const builtin = await submit({ ...RANGE, parameters: { ...RANGE.parameters, ...OWN } });
    const same = await ada.finish(builtin);
    expect(run.at("/backtest/result/metrics/total_return")).toBe(same.at("/backtest/result/metrics/total_return"));
    const trades = async (of: unknown) => (await ada.get(`/api/backtests/${of}/trades`)).list("/trades").length;
    expect(await trades(id)).toBe(await trades(builtin));
    expect(await trades(id)).toBeGreaterThan(10);
    await program.kill();
    await Promise.all([api.end("SIGTERM"), heir.end("SIGTERM")]);
  });
}
