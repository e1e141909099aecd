/** Members that are not there, of what indicators return and of a script's own strategy: a registration refuses their reads, over HTTP. */
import { expect } from "@std/expect";
import { startTestService } from "../support/service.ts";
import { registration } from "./foreign_code.ts";

const of = (prepare: string, decide: string, members = "") =>
  `strategy(() => ({
  ${members}
  prepare(candles) { const { high, low, close, inputs } = candles; ${prepare} },
  decide(i, { close }, account, orders) {
    ${decide}
  },
}));`;

const REFUSED: Readonly<Record<string, readonly [source: string, message: string]>> = {
  "a name of an indicator": [
    of("this.lines = macd(close, 3, 6, 2);", "if (this.lines.singal[i] > 0) orders.buy();"),
    "macd().singal at decide (strategy.ts:5:20) is not known: did you mean signal?",
  ],
  "a name in a pattern": [
    of("const { top } = bollinger(close, 20, 2); this.top = top;", "if (close[i] > this.top?.[i]) orders.buy();"),
    "bollinger().top at prepare (strategy.ts:3:76) is not known: it has upper, middle, lower",
  ],
  "a result of an own series": [
    of("", "this.own.push(close[i]); if (bollinger(this.own, 3, 1).uper < close[i]) orders.buy();", "own: [],"),
    "bollinger().uper at decide (strategy.ts:5:59) is not known: did you mean upper?",
  ],
  "a member of a column": [
    of("this.mean = sma(close, 3);", "if (this.mean.lenght > 5) orders.buy();"),
    "column.lenght at decide (strategy.ts:5:19) is not known: did you mean length?",
  ],
  "longer candles": [
    of('this.day = resample(candles, "1d");', "if (close[i] > this.day.clsoe?.[i]) orders.buy();"),
    "resample().clsoe at decide (strategy.ts:5:29) is not known: did you mean close?",
  ],
  "other candles": [
    of("this.day = inputs.daily;", "if (close[i] > this.day.hihg?.[i]) orders.buy();"),
    "an input's candles.hihg at decide (strategy.ts:5:29) is not known: did you mean high?",
  ],
  "a misspelt counter": [
    of("", "if (this.isRedy) orders.buy(); this.isReady = i > 5;", "isReady: false,"),
    "this.isRedy at decide (strategy.ts:5:14) is not known: did you mean isReady?",
  ],
  "a misspelt column": [
    of("this.mean = sma(close, 3);", "if (close[i] > this.maen[i]) orders.buy();"),
    "this.maen at decide (strategy.ts:5:25) is not known: did you mean mean?",
  ],
  "a misspelt method": [
    of("", "if (this.isUpp(close[i])) orders.buy();", "isUp: (price) => price > 3,"),
    "this.isUpp at decide (strategy.ts:5:14) is not known: did you mean isUp?",
  ],
  "a strategy for many markets": [
    `portfolio(() => ({
  losses: {},
  prepare(markets) { this.bands = markets.map(({ close }) => bollinger(close, 5, 2)); },
  decide(_now, markets, _account, orders) {
    if (this.loses?.any === undefined && this.bands[0].lower[0] !== 5) orders.target({ [markets[0].id]: 1 });
  },
}));`,
    "this.loses at decide (strategy.ts:5:14) is not known: did you mean losses?",
  ],
  "an indicator of many markets": [
    `portfolio(() => ({
  prepare(markets) { this.bands = markets.map(({ close }) => bollinger(close, 5, 2)); },
  decide(_now, markets, _account, orders) {
    if (this.bands[0].lowr === 0) orders.target({});
  },
}));`,
    "bollinger().lowr at decide (strategy.ts:4:23) is not known: did you mean lower?",
  ],
};

/** Scripts that read what may be set. */
const TAKEN: Readonly<Record<string, string>> = {
  "set after the first read": of("", "if (this.last === undefined) orders.buy(); this.last = close[i];"),
  "set where it was empty": of("", "this.count ??= 0; this.count++; if (this.count > 3) orders.buy();"),
  "set where a check does not come": of("", "if (this.late) orders.buy(); if (i > 100000) this.late = true;"),
  "named in a list": of("", 'for (const name of ["late"]) if (i > 1e6) this[name] = 1; if (this.late) orders.buy();'),
  "perhaps given":
    `strategy((given) => ({ ...given, decide(i, candles, account, orders) { if (this.fast > 3) orders.buy(); } }));`,
  "a class with private members": `class Own {
  #calls = 0;
  decide = function (i, { close }, account, orders) { if (this.#calls++ > 5 && account.quantity === 0) orders.buy(); };
}
strategy(() => new Own());`,
  "own methods and symbols of columns": of(
    "this.mean = sma(close, 3);",
    "if ([...this.mean.subarray(0, 3)].length + close.slice(0, 2).length + this.mean.at(0) > 0) orders.buy();",
  ),
  "a row that is no number": of(
    "this.mean = sma(close, 3);",
    "if (close[i - this.mean[0]] > 3 || close[NaN]) orders.buy();",
  ),
};

Deno.test("a registration refuses reads of members that are not there, with the nearest ones", async (t) => {
  const service = await startTestService();
  const user = await service.user();
  const register = async (slug: string, source: string) =>
    await user.send("POST", "/api/strategies", { strategy: registration(slug, { type: "script", source }) });
  for (const [name, [source, message]] of Object.entries(REFUSED)) {
    await t.step(name, async () => {
      const answer = await register("refused", source);
      expect([answer.status, answer.at("/error/code")]).toEqual([400, "INVALID_SCRIPT"]);
      expect(answer.at("/error/message")).toBe(`Cannot use the script: in its dry run: ${message}`);
    });
  }
  for (const [n, [name, source]] of Object.entries(TAKEN).entries()) {
    await t.step(name, async () => {
      const answer = await register(`taken-${n}`, source);
      expect([answer.status, answer.at("/error")]).toEqual([201, undefined]);
    });
  }
  await service.close();
});
