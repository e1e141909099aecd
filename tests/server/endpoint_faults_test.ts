/** Programs that decide as `serve:NAME`, killed and lost: real processes, under the permissions that users give them. */
import { expect } from "@std/expect";
import { inCluster } from "../support/cluster.ts";
import { BACKTEST, TestClient } from "../support/client.ts";
import { freePort } from "../support/free_port.ts";
import { ROOT } from "../support/pages.ts";
import { readUntil } from "../support/until.ts";

const RANGE = { ...BACKTEST, start_date: "2024-01-01", end_date: "2024-07-01" };
const OWN = { fast: 24, slow: 96, direction: "both" };
const LOOKBACK = 97;
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

/** A program of the author's. */
class Program {
  readonly #process: Deno.ChildProcess;
  readonly #reader: ReadableStreamDefaultReader<string>;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;

  constructor(url: string, token: string) {
    this.#process = new Deno.Command("python3", {
      args: ["-c", PROGRAM, `${ROOT}strategies/examples/python/sma_cross.py`],
      env: { PYTHONPATH: `${ROOT}client/python`, HINDCAST_URL: url, HINDCAST_TOKEN: token, HOME: "/nonexistent" },
      stdin: "piped",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    this.#reader = this.#process.stdout.pipeThrough(new TextDecoderStream()).getReader();
    this.#writer = this.#process.stdin.getWriter();
  }

  /** Waits until it has said so. */
  async said(pattern: RegExp): Promise<void> {
    const timer = setTimeout(() => void this.#reader.cancel(), SILENCE_MS);
    await readUntil(this.#reader, pattern);
    clearTimeout(timer);
  }

  async allow(requests: number): Promise<void> {
    await this.#writer.write(new TextEncoder().encode("\n".repeat(requests)));
  }

  async kill(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#process.status;
    await this.#reader.cancel();
    await this.#writer.abort();
  }
}

Deno.test("a run is whole after its program, the API and the worker were killed in its middle", () =>
  inCluster(async (start) => {
    const port = freePort();
    const serve = () => start("serve", { PORT: String(port), WORKERS: "0" });
    const [first, worker] = await Promise.all([serve(), start("worker", {})]);
    const ada = new TestClient(first.url);
    await ada.signUp();
    const made = await ada.send("POST", "/api/tokens", { token: { name: "my model", scope: "serve" } });
    const token = String(made.at("/secret"));
    const submit = async (backtest: object) =>
      (await ada.send("POST", "/api/backtests", { backtest })).at("/backtest/id");
    const runtime = { type: "remote", endpoint: "serve:mine", lookbackCandles: LOOKBACK, timeoutMs: 3000 };
    const id = await submit({ ...RANGE, strategy: "Mine", parameters: { ...RANGE.parameters, ...OWN, runtime } });

    const lost = new Program(first.url, token);
    await lost.said(/asked/);
    await lost.kill();
    // Another gets the same candles, once the time of the first is over.
    const program = new Program(first.url, token);
    await program.said(/asked/);

    await first.end("SIGKILL");
    await program.allow(1);
    await program.said(/Trying again/);
    const api = await serve();
    // The answer was not lost with the service: the program has it still, and gets the next request.
    await program.said(/asked/);

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
  }));
