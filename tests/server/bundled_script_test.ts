/** A strategy of several files, bundled by the command of its documentation, over HTTP. */
import { expect } from "@std/expect";
import { BACKTEST } from "../support/client.ts";
import { startTestService } from "../support/service.ts";

const ROOT = new URL("../../", import.meta.url);
/** Not in deno.json: the console's builder would take it for its own. */
const ESBUILD = "npm:esbuild@0.28.2";
const FILES: Readonly<Record<string, string>> = {
  "main.ts": `import { averagesOf, type Periods } from "./averages.ts";
import { sideAt } from "./sides.ts";

strategy(({ fast, slow }: Periods) => ({
  warmup: slow + 1,
  prepare({ close }) { [this.first, this.second] = averagesOf(close, { fast, slow }); },
  decide(i, _candles, account, orders) {
    const side = sideAt(this.first, this.second, i);
    if (side === "up" && account.quantity === 0) orders.buy();
    if (side === "down" && account.quantity > 0) orders.close();
  },
}));`,
  "averages.ts": `export interface Periods { readonly fast: number; readonly slow: number }
export const averagesOf = (close: Float64Array, { fast, slow }: Periods) => [sma(close, fast), sma(close, slow)];`,
  "sides.ts": `export enum Side { up = "up", down = "down" }
export function sideAt(a: Float64Array, b: Float64Array, i: number): Side | null {
  if (crossesAbove(a, b, i)) return Side.up;
  return crossesBelow(a, b, i) ? Side.down : null;
}`,
};

Deno.test("a strategy of several files trades as the built-in one, once it is bundled as documented", async () => {
  const source = await bundle();
  const service = await startTestService();
  const user = await service.user();
  const run = async (more: object) => {
    const parameters = { timeframe: "1h", fast: 5, slow: 20, ...more };
    const made = await user.send("POST", "/api/backtests", { backtest: { ...BACKTEST, parameters } });
    expect([made.status, made.at("/error")]).toEqual([202, undefined]);
    const ended = await user.finish(String(made.at("/backtest/id")));
    expect(ended.at("/backtest/error")).toBe(null);
    return Object(ended.at("/backtest/result/metrics"));
  };
  const builtin = await run({ direction: "long" });
  expect(builtin.trades).toBeGreaterThan(1);
  expect(await run({ runtime: { type: "script", source } })).toEqual(builtin);
  await service.close();
});

/** Runs the command of the page in a folder with the files. @returns The file that it names. */
async function bundle(): Promise<string> {
  const page = await Deno.readTextFile(new URL("strategies/SCRIPTS.md", ROOT));
  const args = /^npx esbuild (.+)$/m.exec(page)?.[1]?.split(" ") ?? [];
  const folder = await Deno.makeTempDir({ prefix: "hindcast-bundle-" });
  try {
    for (const [name, text] of Object.entries(FILES)) await Deno.writeTextFile(`${folder}/${name}`, text);
    const { code, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--quiet", "--allow-all", "--no-config", "--no-lock", ESBUILD, ...args],
      cwd: folder,
    }).output();
    expect([code, code === 0 ? "" : new TextDecoder().decode(stderr)]).toEqual([0, ""]);
    return await Deno.readTextFile(`${folder}/${args.at(-1)?.split("=")[1]}`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
