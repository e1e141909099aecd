/**
 * Code that has taken its sandbox over and sends what the sandbox never would: a GiB through each channel, or as much as it takes until
 * it is ended. It runs in the real process with the permissions of one. The parent survives, takes little memory, and says why the run
 * failed.
 */
import { expect } from "@std/expect";
import { STORED_BYTES_MAX } from "../../../workers/sandbox/contracts/log_bounds.ts";
import { runInSandbox } from "../../../workers/sandbox/process.ts";
import { SANDBOX_BYTES_MAX } from "../../../workers/sandbox/task.ts";
import { runScriptAs } from "../../support/process.ts";
import { copyCode } from "./exchanged_worker.ts";
import { deciding } from "./script/scripts.ts";
import { dailyCandles, taskOver, wanderingCloses } from "./sandbox_tasks.ts";
import { CHANNELS } from "./takeover_channels.ts";

/** A script has a console of its own. */
const LOG = "console.log";
/** The parent's growth meanwhile: a run may have this much for its result. */
const GROWTH_BYTES_MAX = 400 * 2 ** 20;
/** A log, and the reason. */
const OUTCOME_CHARS_MAX = 2 * STORED_BYTES_MAX;
const REFUSED = /Cannot take what its process sends: |Cannot use more than \d+ MiB of memory|out of memory/;

const TASK = taskOver(dailyCandles(wanderingCloses(200)));

Deno.test("sandboxes that were taken over fail alone, whatever they send to a process with a service's permissions", async (t) => {
  const said = await runScriptAs("start", (data) => {
    const code = `${data}/code`;
    copyCode(code);
    // The exchanged Worker wants no interpreter, which may not have been built.
    const child = `${code}/workers/sandbox/child.ts`;
    Deno.writeTextFileSync(child, Deno.readTextFileSync(child).replace('if (kind === "python")', "if (kind === '')"));
    return parentText(code);
  });
  const ends: readonly End[] = said.trim().split("\n").map((line) => JSON.parse(line));
  expect(ends.map(({ what }) => what)).toEqual(CHANNELS.map(([what]) => what));
  for (const { what, outcome, chars, growthBytes } of ends) {
    await t.step(what, () => {
      expect(outcome).toMatchObject({ type: "failed", message: expect.stringMatching(REFUSED) });
      expect(chars).toBeLessThan(OUTCOME_CHARS_MAX);
      expect(growthBytes).toBeLessThan(GROWTH_BYTES_MAX);
    });
  }
});

/** The parent's account of a sandbox. */
interface End {
  readonly what: string;
  readonly outcome: { readonly type: string; readonly message?: string };
  readonly chars: number;
  /** The most memory that the parent took beyond what it had. */
  readonly growthBytes: number;
}

/** A parent of sandboxes whose Workers are exchanged, one after the other; it writes a line for each. */
function parentText(code: string): string {
  const own = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);
  return `
import { CHANNELS, SEND } from ${own("./takeover_channels.ts")};
import { runInSandbox } from "${code}/workers/sandbox/process.ts";
for (const [what, job, source] of CHANNELS) {
  const folder = job.language === "python" ? "python" : "wasm";
  Deno.writeTextFileSync(\`${code}/workers/sandbox/\${folder}/worker.ts\`, SEND + "self.onmessage = () => {" + source + "};");
  const before = Deno.memoryUsage().rss;
  let most = before;
  const timer = setInterval(() => most = Math.max(most, Deno.memoryUsage().rss), 20);
  const outcome = await runInSandbox(job, {
    ...{ deadlineMs: 60_000, memoryBytesMax: ${SANDBOX_BYTES_MAX}, onProgress: () => {} },
    signal: new AbortController().signal,
  });
  clearInterval(timer);
  const { type, message } = outcome;
  const chars = JSON.stringify(outcome).length;
  const line = JSON.stringify({ what, outcome: { type, message }, chars, growthBytes: most - before });
  Deno.stdout.writeSync(new TextEncoder().encode(line + "\\n"));
}
Deno.exit(0);`;
}

/** Takes hold of the lists of a realm, through a method that adds to them. */
const HOLD = `const held = [];
const { push } = Array.prototype;
Array.prototype.push = function (...values) { held[held.length] = this; return push.apply(this, values); };
const long = () => "x".repeat(2 ** 26);`;

/** Scripts that take their realm over, and what the run then says. */
const REALMS: readonly (readonly [what: string, source: string, message: RegExp])[] = [
  [
    "a logged line of 64 MiB",
    `${HOLD}
    ${deciding(`if (i === 1) { ${LOG}("a"); held.at(-1)[0] = long(); }`)}`,
    /a line of its log has 67108864 characters: at most 1024/,
  ],
  [
    "a logged line that is no text",
    `${HOLD}
    ${deciding(`if (i === 1) { ${LOG}("a"); held.at(-1)[0] = { length: 1 }; }`)}`,
    /a line of its log is no text/,
  ],
  [
    "the name of a plot",
    `${HOLD}
    ${deciding('if (i === 1) { plot("a", 1); for (const list of held) if (list[0] === "a") list[0] = long(); }')}`,
    /a plot's name has 67108864 characters/,
  ],
  [
    "the pane of a plot",
    `${HOLD}
    ${deciding('if (i === 1) { plot("a", 1, "b"); for (const list of held) if (list[0] === "b") list[0] = long(); }')}`,
    /a plot's pane has 67108864 characters/,
  ],
  [
    "a thousand plots",
    `${HOLD}
    ${
      deciding(
        'if (i === 1) { plot("a", 1); for (const list of held) if (list[0] === "a") for (let n = 0; n < 1000; n++) list[n] = "a" + n; }',
      )
    }`,
    /it plots more than 16 series/,
  ],
  [
    "the name of an indicator",
    `${HOLD}
    ${
      deciding(
        "",
        "sma(candles.close, 2); for (const list of held) if (Object(list[0]).name === 'sma') list[0] = { name: long(), inputs: [0], numbers: [2], texts: [] };",
      )
    }`,
    /its requests are none/,
  ],
  [
    "a million indicators",
    `${HOLD}
    ${
      deciding(
        "",
        "sma(candles.close, 2); for (const list of held) if (Object(list[0]).name === 'sma') for (let n = 1; n < 1e6; n++) list[n] = list[0];",
      )
    }`,
    /its requests are none/,
  ],
  [
    "an indicator that is none",
    `${HOLD}
    ${
      deciding(
        "",
        "sma(candles.close, 2); for (const list of held) if (Object(list[0]).name === 'sma') list[0] = { name: 'rma', inputs: [0], numbers: [2], texts: [] };",
      )
    }`,
    /Cannot compute rma/,
  ],
  [
    "a period of no candles",
    `${HOLD}
    ${
      deciding(
        "",
        "sma(candles.close, 2); for (const list of held) if (Object(list[0]).name === 'sma') list[0] = { name: 'sma', inputs: [0], numbers: [1e9], texts: [] };",
      )
    }`,
    /Cannot compute sma with a period of 1000000000/,
  ],
  [
    "the message of an error",
    deciding('String.prototype.slice = long; function long() { return "x".repeat(2 ** 24); } throw new Error("a");'),
    /Cannot go on at candle 0/,
  ],
  [
    "the text of the host's JSON",
    deciding(`JSON.stringify = () => "x".repeat(2 ** 26); ${LOG}({}); throw new Error("a");`),
    /Cannot go on at candle 0 .*Error: a/,
  ],
  [
    "a proxy whose traps throw proxies",
    `const trap = () => { throw made(); };
    const made = () => new Proxy({}, { getPrototypeOf: trap, get: trap, has: trap });
    ${deciding("throw made();")}
    throw made();`,
    /Cannot start: /,
  ],
];

for (const [what, source, message] of REALMS) {
  Deno.test(`a script that takes its realm over fails alone, whatever it holds: ${what}`, async () => {
    const growth = watchGrowth();
    const job = {
      kind: "script",
      language: "typescript",
      source,
      parametersJson: "{}",
      candlesMin: 1,
      lookbackWanted: null,
      task: TASK,
    } as const;
    const outcome = await runInSandbox(job, {
      ...{ deadlineMs: 60_000, memoryBytesMax: SANDBOX_BYTES_MAX, onProgress: () => {} },
      signal: new AbortController().signal,
    });
    expect(outcome).toMatchObject({ type: "failed", code: "STRATEGY_FAILED", message: expect.stringMatching(message) });
    expect(growth.end()).toBeLessThan(GROWTH_BYTES_MAX);
  });
}

/** Watches the most memory that this process takes beyond what it has now. */
function watchGrowth(): { end(): number } {
  const before = Deno.memoryUsage().rss;
  let most = before;
  const timer = setInterval(() => most = Math.max(most, Deno.memoryUsage().rss), 20);
  return {
    end() {
      clearInterval(timer);
      return Math.max(most, Deno.memoryUsage().rss) - before;
    },
  };
}
