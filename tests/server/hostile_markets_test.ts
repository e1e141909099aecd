/** Hostile code that decides on many markets, registered and run over HTTP, in a service with the permissions of the task. */
import { expect } from "@std/expect";
import type { TestClient } from "../support/client.ts";
import { inline, REQUEST, run } from "../support/input_runs.ts";
import { serveMarkets } from "../support/made_markets.ts";
import { buildInterpreter } from "../../workers/sandbox/python/build_interpreter.ts";
import { compileWat, strategyWat } from "../workers/sandbox/wasm/modules.ts";
import { registration } from "./foreign_code.ts";

await buildInterpreter();

const SYMBOLS = ["AAA", "BBB", "CCC"];
const instruments = SYMBOLS.map((symbol) => ({ symbol, exchange: "LAB" }));

interface Runtime {
  readonly type: string;
}
const script = (source: string): Runtime => inline(source);
const deciding = (decide: string, prepare = "") =>
  script(`portfolio(() => ({
  prepare(markets) { ${prepare} },
  decide(now, markets, account, orders) { ${decide} },
}));`);
const defining = (members: string) => script(`portfolio(() => ({ ${members}, decide() {} }));`);
const python = (source: string): Runtime => ({ ...inline(source), ...{ language: "python" } });
const pythonDeciding = (decide: string, prepare = "pass", before = "") =>
  python(`${before}class Hostile(Portfolio):
    def prepare(self, markets):
        ${prepare}

    def decide(self, now, markets, account, orders):
        ${decide}
`);
const IMPORTS = `(import "env" "input" (func $input (param i32 i32) (result i32)))
  (import "env" "resample" (func $resample (param i32 i32) (result i32)))
  (import "env" "plot" (func $plot (param i32 i32 i32 i32) (result i32)))
  (import "env" "draw" (func $draw (param i32 f64)))
  (import "env" "zone" (func $zone (param i32 i32) (result i32)))`;
const wasm = (onMarkets: string, init = "", more = ""): Runtime => {
  const wat = strategyWat({
    before: IMPORTS,
    init: `${init} (i32.const 0)`,
    after: `${more} (func (export "on_markets") (param $frame i32) (param $markets i32) (result i32) (local $rows i32)
      (local.set $rows (i32.load offset=4 (local.get $markets))) ${onMarkets} (i32.const 0))`,
  });
  const artifact = { content_base64: compileWat(wat).toBase64() };
  return { type: "wasm", ...{ artifact } };
};
const fill = (byte: number) => `(memory.fill (i32.const 0) (i32.const ${byte}) (i32.shl (memory.size) (i32.const 16)))`;
const target = `(f64.store offset=64 (local.get $rows) (f64.const 0.1))
  (i32.store offset=24 (local.get $markets) (i32.const 1))`;

const TIMEFRAMES = "resample: the timeframe must be one of 5m, 15m, 30m, 1h, 2h, 4h, 6h, 12h, 1d, 1w";
/** A busy machine gives a check less of its processor, and no time to find the line. */
const ENDLESS = /: Cannot (?:finish within \d+ s|begin: its lines|go on: its decision)/;
const PLACE = "(strategy.ts:";
const X40 = `${"x".repeat(40)}...`;

/** Code that its check refuses, with words of the reason, and the end of it where that names a place. */
const REFUSED: readonly (readonly [name: string, runtime: Runtime, message: string | RegExp, place?: string])[] = [
  ["a timeframe of 0", deciding("", "resample(markets[0], 0)"), `${TIMEFRAMES}, not 0`, PLACE],
  ["one of 10^300", deciding("", "resample(markets[0], 1e300)"), `${TIMEFRAMES}, not 1e+300`, PLACE],
  ["one below 0", deciding("", 'resample(markets[0], "-1d")'), `${TIMEFRAMES}, not -1d`, PLACE],
  ["one of 100 MB", deciding("", 'resample(markets[0], "x".repeat(1e8))'), `${TIMEFRAMES}, not ${X40}`, PLACE],
  [
    "one whose text never ends",
    deciding("", "resample(markets[0], { toString() { for (;;); } })"),
    `${TIMEFRAMES}, not an object`,
    PLACE,
  ],
  [
    "one without a text",
    deciding("", "resample(markets[0], Object.create(null))"),
    `${TIMEFRAMES}, not an object`,
    PLACE,
  ],
  [
    "a market that is none",
    deciding("", 'resample({ ...markets[0] }, "1d")'),
    "resample takes a market that prepare",
    PLACE,
  ],
  [
    "thousands of columns of longer candles",
    deciding("", 'for (;;) resample(markets[0], "1d").close'),
    "a strategy can have at most 256 columns",
  ],
  ["a million plots", deciding("for (let k = 0; k < 1e6; k++) plot(`p${k}`, 1)"), "at most 16 series", PLACE],
  ["a plot's value that is a text", deciding('plot("a", "1")'), "plot draws numbers, not string", PLACE],
  ["a plot's name of 100 MB", deciding('plot("a".repeat(1e8), 1)'), "must be a text of 1 to 64 characters", PLACE],
  [
    "a target's name of 100 MB",
    deciding('orders.target({ ["x".repeat(1e8)]: NaN })'),
    `the weight of ${X40} must be`,
    PLACE,
  ],
  [
    "an option of 100 MB",
    deciding('orders.target({}, { ["x".repeat(1e8)]: 1 })'),
    `${X40} is no option of target`,
    PLACE,
  ],
  ["an error of 100 MB", deciding('throw new Error("x".repeat(1e8))'), "Error: xxx", PLACE],
  [
    "a getter that throws",
    defining('get warmup() { throw new Error("no") }'),
    "Cannot create the strategy: Error: no",
    PLACE,
  ],
  ["a getter that never ends", defining("get warmup() { for (;;); }"), ENDLESS],
  ["a warm-up that is a symbol", defining("warmup: Symbol()"), "from 1 to 1000000, not a symbol"],
  ["a period without a text", defining("every: Object.create(null)"), "or null, not an object"],
  [
    "a function whose text never ends",
    script("const make = ({ a = 1 }) => ({ decide() {} }); make.toString = () => { for (;;); }; portfolio(make);"),
    ENDLESS,
  ],
  [
    "a timeframe in Python that is a number",
    pythonDeciding("pass", "resample(markets[0], -1)"),
    `${TIMEFRAMES}, not -1`,
  ],
  [
    "a market in Python that is none",
    pythonDeciding("pass", "resample(None, '1d')"),
    "resample takes the candles, or a market, that prepare is given",
  ],
  [
    "a plot in Python without a name",
    pythonDeciding("plot([], 1)"),
    "a plot's name must be a text of 1 to 64 characters",
  ],
  [
    "a target's name in Python of 100 MB",
    pythonDeciding("orders.target({'x' * 10**8: nan})"),
    `the weight of ${"x".repeat(77)}... must be a number from -1000 to 1000, not nan`,
    "(strategy.py:6:",
  ],
  [
    "a weight in Python that says it is another",
    pythonDeciding("orders.target({'AAA': F(1e308)})", "pass", "class F(float):\n    def __abs__(self): return 0\n\n"),
    "Cannot target a weight of 1e+308",
  ],
  [
    "a weight that is no number",
    wasm(`(f64.store offset=144 (local.get $rows) (f64.const nan)) ${target}`),
    "is no number",
  ],
  ["a memory of bytes 255", wasm(fill(255)), "their tag has 4294967295 bytes: it may have 64"],
  [
    "a plot whose name wraps",
    wasm("(drop (call $plot (i32.const -8) (i32.const 9) (i32.const 0) (i32.const 0)))"),
    outsideOf(-8, 9),
  ],
  [
    "a pane of 2^32 - 1 bytes",
    wasm("(drop (call $plot (i32.const 16) (i32.const 1) (i32.const 9) (i32.const -1)))"),
    outsideOf(9, -1),
  ],
  ["a zone outside of its memory", wasm("(drop (call $zone (i32.const -1) (i32.const 2)))"), outsideOf(-1, 2)],
  ["an input outside of its memory", wasm("", "(drop (call $input (i32.const 16) (i32.const -1)))"), outsideOf(16, -1)],
  ["a plot that it has not asked for", wasm("(call $draw (i32.const -1) (f64.const 1))"), "draw: there is no plot -1"],
  [
    "a period that asks for candles",
    wasm("", "", '(func (export "every") (result i32) (call $resample (i32.const 16) (i32.const 0)))'),
    "Cannot read its period",
  ],
  ["a market that never ends", wasm("(loop $again (br $again))"), ENDLESS],
];

/** Code that is accepted, with words of the error that ends its run; null: it completes. */
const ACCEPTED: readonly (readonly [name: string, runtime: Runtime, error: string | null])[] = [
  [
    "ten thousand longer candles that nobody reads",
    deciding("", 'for (let k = 0; k < 1e4; k++) resample(markets[0], "1d")'),
    null,
  ],
  ["plots of what is no number", deciding('plot("a", NaN); plot("b", Infinity); plot("__proto__", -Infinity)'), null],
  ["a market without a name", deciding('orders.of("")'), 'there is no market "" at decide (strategy.ts:'],
  [
    "an input of 100 MB",
    deciding("", 'markets[0].inputs["x".repeat(1e8)]'),
    `the run has no input ${X40}: it has none`,
  ],
  [
    "parameters that are named as an object's own",
    script("portfolio(({ __proto__: a = 5, constructor: b = 6 }) => ({ decide() {} }));"),
    null,
  ],
  [
    "a schema that its realm makes up",
    script(
      "Object.fromEntries = () => ({ a: { enum: Array(1e5).fill(0) } }); portfolio(({ a = 1 }) => ({ decide() {} }));",
    ),
    null,
  ],
  [
    "thousands of parameters in Python",
    python(
      "class Hostile(Portfolio):\n    def decide(self, now, markets, account, orders): pass\nfor k in range(5000): setattr(Hostile, f'p{k}' + 'x' * 200, k)\n",
    ),
    null,
  ],
  ["a memory of zeros", wasm(fill(0)), null],
  ["a memory that grows at each decision", wasm(`(drop (memory.grow (i32.const 1000))) ${target}`), null],
  ["a least trade without end", wasm(`(f64.store offset=16 (local.get $markets) (f64.const inf)) ${target}`), null],
];

function outsideOf(pointer: number, bytes: number): string {
  return `the name at ${pointer >>> 0} of ${bytes >>> 0} bytes is outside of its memory`;
}

Deno.test("hostile code over many markets ends with its reason, and the service goes on", async (t) => {
  const { user, endService } = await serveMarkets(SYMBOLS);
  for (const [name, runtime, message, place = ""] of REFUSED) {
    await t.step(`${name} is refused`, () => refused(user, runtime, message, place));
  }
  for (const [n, [name, runtime, error]] of ACCEPTED.entries()) {
    await t.step(`${name} harms nobody`, () => accepted(user, `hostile-${n}`, runtime, error));
  }
  expect((await user.get("/api/health")).status).toBe(200);
  await endService();
});

/** The body of a registration without a schema. */
function bodyOf(slug: string, runtime: Runtime): object {
  const { parameter_schema: _schema, ...strategy } = registration(slug, { ...runtime });
  return { strategy };
}

async function refused(user: TestClient, runtime: Runtime, message: string | RegExp, place: string): Promise<void> {
  const backtest = { ...REQUEST, strategy: "mine", parameters: { timeframe: "1h", instruments, runtime } };
  const code = runtime.type === "wasm" ? "INVALID_MODULE" : "INVALID_SCRIPT";
  for (
    const answer of [
      await user.send("POST", "/api/strategies", bodyOf("hostile", runtime)),
      await user.send("POST", "/api/backtests", { backtest }),
    ]
  ) {
    // A machine that is too busy to tell says so.
    if (message === ENDLESS && answer.at("/error/code") === "UNAVAILABLE") continue;
    expect([answer.status, answer.at("/error/code")]).toEqual([400, code]);
    const text = String(answer.at("/error/message"));
    expect(text).toEqual(
      typeof message === "string" ? expect.stringContaining(message) : expect.stringMatching(message),
    );
    expect(text).toContain(place);
    expect(text.length).toBeLessThan(1300);
  }
}

async function accepted(user: TestClient, slug: string, runtime: Runtime, error: string | null): Promise<void> {
  const created = await user.send("POST", "/api/strategies", bodyOf(slug, runtime));
  expect([created.status, created.at("/error")]).toEqual([201, undefined]);
  for (
    const record of [await run(user, { instruments, runtime }), await run(user, { instruments }, { strategy: slug })]
  ) {
    if (error === null) expect([record.status, record.error]).toEqual(["completed", null]);
    else expect(record.error).toMatchObject({ code: "STRATEGY_FAILED", message: expect.stringContaining(error) });
    expect((await user.get(`/api/backtests/${record.id}/series?limit=2`)).status).toBe(200);
  }
}
