/** The Python package, installed into an empty environment without a network, against a service. */
import { expect } from "@std/expect";
import { blockIn, readPage, ROOT } from "../support/pages.ts";
import { runIn } from "../support/run_in.ts";
import { startTestService } from "../support/service.ts";

const README = "client/python/README.md";
const PAGE = "docs/python.md";

// It notices what a service says that the package has never heard of.
const FIELDS = `
import hindcast, json
hc = hindcast.connect()
run = hc.run("SMA Cross", "DEMO@SAMPLE", "2024-01-01", "2024-02-01", timeframe="1h", labels={"name": "one", "tags": ["a"]})
described = hc.call("GET", "/openapi.json").components.schemas
missing = [name for name in described.Backtest.required if not hasattr(run, name)]
missing += [name for name in described.Metrics.properties if not hasattr(run.metrics, name)]
trades = run.call("trades", limit=1).trades
missing += [name for name in described.Trade.required if not hasattr(trades[0], name)]
again = hc.get(run.id).update(star=True, notes="seen")
# A name that an older version has stored: it must set no terminal's title.
again.record["strategy"] = "\\x1b]0;owned\\x07Free"
print(json.dumps([missing, run.name, run.tags, again.star, again.notes, sorted(dir(run))[0] != "", len(hc.runs(tag="a")),
                  repr(again)[:14]]))
`;

const REFUSALS = `
import hindcast, json
hc = hindcast.connect()
said = []
def note(ask):
    try:
        ask()
    except Exception as error:
        said.append([type(error).__name__, getattr(error, "code", None), str(error)])
dates = ("DEMO@SAMPLE", "2024-01-01", "2024-02-01")
note(lambda: hc.run("SMA Cros", *dates))
note(lambda: hc.run("SMA Cross", *dates, fast=-1))
note(lambda: hc.run("SMA Cross", "DEMO", "2024-01-01", "2024-02-01"))
note(lambda: hc.run("SMA Cross", *dates, timeframe="1h").metrics.sharp)
note(lambda: hc.run("SMA Cross", *dates, timeframe="1h").trade)
note(lambda: hindcast.serve(type("Cross", (hindcast.Strategy,), {}), "mine", hc))
note(lambda: hc.run("broken.js", *dates, timeframe="1m"))
note(lambda: hindcast.connect("http://127.0.0.1:1").strategies())
note(lambda: hindcast.connect("127.0.0.1:1"))
waiting = hc.run("SMA Cross", *dates, timeframe="1m", wait=False, labels={"fresh": True})
note(lambda: waiting.metrics)
note(lambda: hc.run("SMA Cross", *dates, execution={"slippage": {"bps": float("nan")}}))
note(lambda: hc.run("SMA Cross", *dates, fast=complex(1)))
note(lambda: hc.optimize("SMA Cross", *dates, space={"fast": 5}))
print(json.dumps(said))
`;

const BROKEN = `strategy(() => ({
  decide(i) {
    if (i > 20_000) throw new Error("enough");
  },
}));
`;

const NOTEBOOK = `
import hindcast
from hindcast.sources import describe_strategy

class Base:
    pass

def wrap():
    class Inner(hindcast.Strategy):
        size = 2

        def decide(self, i):
            return "class Inner: not this one"

    return Inner

class Other(Base):
    def decide(self, i):
        return i

name, runtime = describe_strategy(wrap())
print(name, runtime["type"], runtime["language"])
print(runtime["source"], end="")
`;

const SUBMITTED = `
import hindcast
hc = hindcast.connect()
run = hc.run("SMA Cross", "DEMO@SAMPLE", "2024-01-01", "2024-02-01", timeframe="1h")
found = hc.optimize("SMA Cross", "DEMO@SAMPLE", "2024-01-01", "2025-01-01", timeframe="1h", space={"fast": range(1, 41), "slow": range(50, 75)})
print(run.status, len(hc.runs()), found.trials[-1].number)
`;

/** Holds what rises over its last two weeks. */
const ROTATION = `
import hindcast

def decide(request):
    rising = []
    for market in request["markets"]:
        weeks = market["inputs"]["weeks"]["candles"]["close"]
        if market["is_member"] and len(weeks) > 1 and weeks[-1] > weeks[-2]:
            rising.append(market["id"])
    return {"targets": {name: 0.9 / len(rising) for name in rising}}

hindcast.serve(decide, name="rotation")
`;

const ROTATED = `
import hindcast
hc = hindcast.connect()
program = {"type": "remote", "endpoint": "serve:rotation", "mode": "portfolio", "every": "week", "lookbackCandles": 10}
markets = [{"symbol": symbol, "exchange": "SAMPLE"} for symbol in ("ASPEN", "BIRCH", "OAK")]
run = hc.run(program, "OAK@SAMPLE", "2023-01-01", "2023-06-01", timeframe="1d",
             instruments=markets, inputs={"weeks": {"timeframe": "1w"}})
print(run.status, run.metrics.trades > 5, run.result.integrity.determinism.status, run.parameters.inputs.weeks.timeframe)
`;

Deno.test("the Python package runs, optimizes, refuses and repeats, with the standard library alone", async (t) => {
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const service = await startTestService("PostgreSQL");
  const user = await service.user();
  const made = await user.send("POST", "/api/tokens", { token: { name: "python", scope: "run" } });
  const token = String(made.at("/secret"));
  const settings = { HINDCAST_URL: service.url, HINDCAST_TOKEN: token };
  const python = async (code: string, env: Readonly<Record<string, string>> = settings) => {
    await Deno.writeTextFile(`${folder}/program.py`, code);
    return await runIn(folder, [`${folder}/venv/bin/python`, "program.py"], { HOME: folder, ...env });
  };

  await t.step("it is installed into an empty environment without a network", async () => {
    // pip builds beside the sources, and other tests read them.
    const copied = await runIn(folder, ["cp", "-r", `${ROOT}client/python`, "package"]);
    expect(copied.code).toBe(0);
    const lines = blockIn(await readPage(PAGE), "sh", "venv").replaceAll(".venv", "venv")
      .replace("./client/python", "./package").replace("--system-site-packages ", "");
    const { code, stderr } = await runIn(folder, ["sh", "-euc", lines], { PIP_NO_INDEX: "1" });
    expect([code, code === 0 ? "" : stderr]).toEqual([0, ""]);
  });
  await t.step("the package's page shows a run and an optimization", async () => {
    const { code, stdout, stderr } = await python(blockIn(await readPage(README), "python", "connect()"));
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(
      /^SMA Cross on DEMO@SAMPLE, 2024-01-01 to 2025-01-01: completed\n {2}total return +[\d.]+ %\n/,
    );
    expect(stdout).toMatch(
      /\n[\d.]+ 102 8784\nSMA Cross on DEMO@SAMPLE: completed, 18 trials\n {2}#\d+ +sharpe [\d.]+ /,
    );
  });
  await t.step("the page's examples run: a run's trades, and a trial that equals its backtest", async () => {
    const page = await readPage(PAGE);
    const run = await python(blockIn(page, "python", "commission=0.0005"));
    expect([run.code, run.stderr]).toEqual([0, ""]);
    expect(run.stdout).toMatch(/\n[\d.]+ [0-9a-f]{64}\n(?:(?:long|short) 2024-\S+Z -?[\d.]+\n){3}$/);
    const many = await python(blockIn(page, "python", "monte_carlo"));
    expect([many.code, many.stderr]).toEqual([0, ""]);
    // The page repeats the run of the package's page, which is one try, and its 18 trials, which count twice.
    expect(many.stdout).toMatch(/\n {2}The best trial among all your tries: One of 37 tries /);
    expect(many.stdout).toMatch(/\nTrue\nMonteCarlo\(trades, 200 runs, completed\)\n$/);
  });
  await t.step("the page's program decides for a run, with a token that may do nothing else", async () => {
    const page = await readPage(PAGE);
    const serving = await user.send("POST", "/api/tokens", { token: { name: "model", scope: "serve" } });
    await Deno.writeTextFile(`${folder}/serving.py`, blockIn(page, "python", "hindcast.serve(decide"));
    const program = new Deno.Command(`${folder}/venv/bin/python`, {
      args: ["-u", "serving.py"],
      cwd: folder,
      env: { HOME: folder, ...settings, HINDCAST_TOKEN: String(serving.at("/secret")) },
      stdout: "piped",
    }).spawn();
    const run = await python(blockIn(page, "python", "serve:breakout"));
    program.kill("SIGINT");
    const { stdout } = await program.output();
    expect(new TextDecoder().decode(stdout)).toBe(
      `Serving breakout for ${service.url}: run serve:breakout\nStopped serving breakout.\n`,
    );
    expect([run.code, run.stderr, run.stdout]).toEqual([0, "", "completed True passed\n"]);
  });
  await t.step("a program decides on all markets at once, with inputs", async () => {
    await Deno.writeTextFile(`${folder}/rotation.py`, ROTATION);
    const program = new Deno.Command(`${folder}/venv/bin/python`, {
      ...{ args: ["-u", "rotation.py"], cwd: folder, env: { HOME: folder, ...settings }, stdout: "piped" },
    }).spawn();
    const run = await python(ROTATED);
    program.kill("SIGINT");
    const { stdout } = await program.output();
    expect(new TextDecoder().decode(stdout)).toMatch(/^Serving rotation for \S+ run serve:rotation\nStopped serving/);
    expect([run.code, run.stderr, run.stdout]).toEqual([0, "", "completed True passed 1w\n"]);
  });
  await t.step("every field that the API describes is there, without a line about it", async () => {
    const { code, stdout, stderr } = await python(FIELDS);
    expect([code, stderr]).toEqual([0, ""]);
    expect(JSON.parse(stdout)).toEqual([[], "one", ["a"], true, "seen", true, 1, "\ufffd]0;owned\ufffdFree"]);
  });
  await t.step("errors name what was wrong and the nearest right one", async () => {
    await Deno.writeTextFile(`${folder}/broken.js`, BROKEN);
    const { code, stdout, stderr } = await python(REFUSALS);
    expect([code, stderr]).toEqual([0, ""]);
    expect(JSON.parse(stdout)).toEqual([
      ["HindcastError", "UNKNOWN_STRATEGY", expect.stringContaining("did you mean SMA Cross?")],
      ["HindcastError", "INVALID_PARAMETERS", expect.stringContaining("must be at least 1, not -1")],
      ["ValueError", null, expect.stringContaining("as in 'DEMO@SAMPLE'")],
      ["AttributeError", null, "There is no field sharp: did you mean sharpe?"],
      ["AttributeError", null, "There is no field trade: did you mean trades?"],
      [
        "TypeError",
        null,
        expect.stringMatching(/^Cannot serve Cross: it is a script, .* hc\.run\(Cross, \.\.\.\) sends/),
      ],
      ["RunFailed", "STRATEGY_FAILED", expect.stringContaining("enough")],
      ["ServiceUnreachable", null, expect.stringContaining("Cannot reach http://127.0.0.1:1: ")],
      ["ValueError", null, expect.stringContaining("must begin with http:// or https://")],
      ["ValueError", null, expect.stringMatching(/^The run is (queued|running): call wait\(\) first$/)],
      [
        "ValueError",
        null,
        "Cannot send /backtest/parameters/execution/slippage/bps: it must be a finite number, not nan",
      ],
      ["TypeError", null, "Cannot send (1+0j): it must be a number, a text, a list or a dict, not complex"],
      [
        "TypeError",
        null,
        "Cannot use 5 as the space of fast: give a range, a list or {min, max, step}, or fix it: fast=5",
      ],
    ]);
  });
  await t.step("a class is sent as its own text, and nothing around it", async () => {
    const { code, stdout, stderr } = await python(NOTEBOOK);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toBe(`Inner script python
class Inner(Strategy):
    size = 2

    def decide(self, i):
        return "class Inner: not this one"
`);
  });
  await t.step(
    "a submission whose answer is lost is sent again and stored once, and a cut stream is joined again",
    async () => {
      const other = await service.user();
      const secret = String(
        (await other.send("POST", "/api/tokens", { token: { name: "b", scope: "run" } })).at("/secret"),
      );
      const proxy = loseFirst(service.url);
      const { code, stdout, stderr } = await python(SUBMITTED, { HINDCAST_URL: proxy.url, HINDCAST_TOKEN: secret });
      await proxy.close();
      expect([code, stderr]).toEqual([0, ""]);
      expect(stdout).toBe("completed 1 1000\n");
      expect(proxy.lost).toEqual(["POST /api/backtests", "GET /events"]);
    },
  );
  await t.step("a redirect is not followed, and a saved token is sent to its own address alone", async () => {
    const seen: (string | null)[] = [];
    const stranger = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
      seen.push(request.headers.get("authorization"));
      return Response.redirect(`${service.url}/api/session`, 307);
    });
    const url = `http://127.0.0.1:${stranger.addr.port}`;
    await Deno.mkdir(`${folder}/.config/hindcast`, { recursive: true });
    await Deno.writeTextFile(`${folder}/.config/hindcast/login.json`, JSON.stringify({ url: service.url, token }));
    const { stdout, stderr } = await python(
      `import hindcast
print(hindcast.connect().call("GET", "/api/session").session.scope)
try:
    hindcast.connect("${url}").call("GET", "/api/session")
except hindcast.HindcastError as error:
    print(error.status)`,
      {},
    );
    await stranger.shutdown();
    expect([stdout, stderr, seen]).toEqual(["run\n307\n", "", [null]]);
  });
  await service.close();
  await Deno.remove(folder, { recursive: true });
});

/** Stands before a service and cuts the first answer to a submission, and the first event stream after its first event. */
function loseFirst(service: string) {
  const lost: string[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const { pathname, search } = new URL(request.url);
    const name = `${request.method} ${pathname.endsWith("/events") ? "/events" : pathname}`;
    const body = request.method === "POST" ? await request.text() : null;
    const answer = await fetch(`${service}${pathname}${search}`, {
      method: request.method,
      headers: request.headers,
      body,
    });
    const isFirst = (name === "POST /api/backtests" || name === "GET /events") && !lost.includes(name);
    if (!isFirst) return answer;
    lost.push(name);
    await answer.body?.cancel();
    const cut = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.error(new Error("the line is cut")),
    });
    return new Response(cut, { status: answer.status, headers: { "content-type": "application/json" } });
  });
  return { url: `http://127.0.0.1:${server.addr.port}`, lost, close: () => server.shutdown() };
}
