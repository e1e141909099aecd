/** Authors begin from the examples, so each must make the same trades as the built-in, to the byte. */
import { expect } from "@std/expect";
import { createControl } from "../../engine/control.ts";
import { run } from "../../engine/run.ts";
import { DEFAULT_RULES } from "../../strategies/builtin/builtin.ts";
import { findBuiltin } from "../../strategies/builtin/catalogue.ts";
import { encodeFrame } from "../../workers/sandbox/frames.ts";
import { doWasmJob } from "../../workers/sandbox/wasm/run.ts";
import {
  compileAssemblyScript,
  compileWat,
  dailyCandles,
  taskOver,
  wanderingCloses,
} from "../workers/sandbox/wasm/modules.ts";
import { expectLines } from "./probes.ts";

const EXAMPLES = new URL("../../strategies/examples/", import.meta.url);

let assemblyScript: Promise<Uint8Array> | null = null;

const MODULES: readonly (readonly [language: string, read: () => Promise<Uint8Array>])[] = [
  ["C", () => readCommitted("c")],
  ["Rust", () => readCommitted("rust")],
  ["AssemblyScript", () => assemblyScript ??= compileExample()],
];

const PARAMETERS = [
  { fast: 10, slow: 30, direction: "both", takeProfitLevel: 0, stopLossLevel: 0 },
  { fast: 1, slow: 2, direction: "long", takeProfitLevel: 0, stopLossLevel: 0 },
  { fast: 7, slow: 19, direction: "both", takeProfitLevel: 0.015, stopLossLevel: 0.0125 },
  { fast: 5, slow: 128, direction: "long", takeProfitLevel: 0.3, stopLossLevel: 1e-7 },
];

for (const [language, read] of MODULES) {
  Deno.test(`the SMA cross in ${language} gives the built-in's result to the byte`, async () => {
    const module = await read();
    // The lookback has candles without a decision, which the module must still read.
    const task = taskOver(dailyCandles(wanderingCloses(5000)), { firstIndex: 333 });
    for (const parameters of PARAMETERS) {
      const job = {
        kind: "run",
        module,
        parametersJson: JSON.stringify(parameters),
        candlesMin: 1,
        lookbackWanted: null,
        task,
      } as const;
      const answer = doWasmJob(job, createControl());
      const expected = run({ ...task, strategy: findBuiltin("sma-cross")!.create(parameters), control: null });
      expect(expected.trades.count).toBeGreaterThan(20);
      expect(answer).toMatchObject({ type: "completed", integrity: { lookahead: { status: "passed" } } });
      if (answer.type === "completed") expect(bytesOf(answer.result)).toEqual(bytesOf(expected));
    }
  });

  Deno.test(`the SMA cross in ${language} refuses parameters that contradict each other`, async () => {
    const module = await read();
    const parametersJson = JSON.stringify({ fast: 30, slow: 10 });
    const answer = doWasmJob({ kind: "validate", module, parametersJson, candlesMin: 1 }, createControl());
    expect(answer).toMatchObject({ type: "failed", code: "STRATEGY_FAILED" });
    expect(answer).toMatchObject({ message: expect.stringContaining("fast must be less than slow") });
  });
}

Deno.test("the bindings of AssemblyScript have the engine's indicators and read every number, to the bit", async () => {
  const bindings = { "hindcast.ts": await readText("assemblyscript/hindcast.ts") };
  const probe = await Deno.readTextFile(new URL("probes/probe.as", import.meta.url));
  expectLines(await compileAssemblyScript(probe, bindings));
});

Deno.test("a module that was built for the frame of 136 bytes trades as before", async () => {
  // The C example of then: it ends its frame at `initial_balance`.
  const module = await Deno.readFile(new URL("short_frame.wasm", import.meta.url));
  const task = taskOver(dailyCandles(wanderingCloses(2000)), { firstIndex: 333 });
  const [parameters] = PARAMETERS;
  const job = {
    kind: "run",
    module,
    parametersJson: JSON.stringify(parameters),
    candlesMin: 1,
    lookbackWanted: null,
    task,
  } as const;
  const answer = doWasmJob(job, createControl());
  if (answer.type !== "completed") throw new Error(JSON.stringify(answer));
  // It looks one candle back.
  const strategy = findBuiltin("sma-cross")!.create(parameters!, { ...DEFAULT_RULES, crossThroughTouch: false });
  const expected = run({ ...task, strategy, control: null });
  expect(expected.trades.count).toBeGreaterThan(20);
  expect(bytesOf(answer.result)).toEqual(bytesOf(expected));
});

Deno.test("a moving-average cross has at most 25 lines in each language", async () => {
  for (const path of ["c/sma_cross.c", "rust/sma_cross.rs", "assemblyscript/sma_cross.ts"]) {
    expect((await readText(path)).trimEnd().split("\n").length).toBeLessThanOrEqual(25);
  }
});

Deno.test("the committed modules have the checksums beside their sources", async () => {
  for (const language of ["c", "rust"]) {
    for (const name of ["sma_cross.wasm", "daily_trend.wasm", "momentum_rotation.wasm"]) {
      const module = await Deno.readFile(new URL(`${language}/${name}`, EXAMPLES));
      const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", module)).toHex();
      expect(await readText(`${language}/${name}.sha256`)).toBe(`${sum}  ${name}\n`);
    }
  }
});

Deno.test("the WAT example buys the rise and leaves with the fall", async () => {
  const module = compileWat(await readText("wat/buy_the_rise.wat"));
  const task = taskOver(dailyCandles([10, 11, 12, 11, 10, 10, 11]));
  const answer = doWasmJob(
    { kind: "run", module, parametersJson: "{}", candlesMin: 1, lookbackWanted: null, task },
    createControl(),
  );
  if (answer.type !== "completed") throw new Error(JSON.stringify(answer));
  // It rose at candle 1: bought at the open of candle 2, which is 11. It fell at candle 3: sold at the open of candle 4, 11.
  // It rose again at candle 6, after which there is no candle to buy at.
  const { trades } = answer.result;
  expect(trades.count).toBe(1);
  expect([trades.entryPrice[0], trades.exitPrice[0], trades.tag[0]]).toEqual([11, 11, "rise"]);
  expect(answer.log).toEqual(["ready"]);
});

Deno.test("the ABI page's worked example is the WAT example, to the letter", async () => {
  const page = await readText("../ABI.md");
  expect(page).toContain(`\`\`\`wat\n${await readText("wat/buy_the_rise.wat")}\`\`\``);
});

async function compileExample(): Promise<Uint8Array> {
  const bindings = { "hindcast.ts": await readText("assemblyscript/hindcast.ts") };
  return await compileAssemblyScript(await readText("assemblyscript/sma_cross.ts"), bindings);
}

function readCommitted(language: string): Promise<Uint8Array> {
  return Deno.readFile(new URL(`${language}/sma_cross.wasm`, EXAMPLES));
}

function readText(path: string): Promise<string> {
  return Deno.readTextFile(new URL(path, EXAMPLES));
}

function bytesOf(result: object): Uint8Array {
  const pieces = encodeFrame(result);
  const bytes = new Uint8Array(pieces.reduce((total, piece) => total + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}
