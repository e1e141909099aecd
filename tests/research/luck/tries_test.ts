import { expect } from "@std/expect";
import { describeTries } from "../../../research/luck/tries.ts";

const FIRST = "The first try of this strategy on this market.";
const MANY = "One of 1,208 tries of this strategy on this market (1 run, 1,207 trials of optimizations).";
const others = { count: 0, deflated: 1 };
const first = { runs: 1, trials: 0, sharpe: 1.234, others };
const many = { runs: 1, trials: 1_207, sharpe: 2.5, others };

Deno.test("the sentence about the tries around a run has four answers", () => {
  expect(describeTries({ ...many, deflated: 0.333 })).toBe(
    `${MANY} Treat it as luck: the true Sharpe ratio behind its 2.50 is above that of the best of so many without skill ` +
      "with a probability of 33.30%, and 95% is usual. More tries lower it.",
  );
  expect(describeTries({ ...many, deflated: 0.97 })).toBe(
    `${MANY} Luck alone does not explain it: the true Sharpe ratio behind its 2.50 is above that of the best of so many ` +
      "without skill with a probability of 97.00%. Confirm it on days that no try has seen.",
  );
  expect(describeTries({ ...many, deflated: { reason: "the result has fewer than four daily returns" } })).toBe(
    `${MANY} Too little to tell whether it is luck: the result has fewer than four daily returns.`,
  );
  expect(describeTries({ ...many, sharpe: -0.92, deflated: 0.18 })).toBe(
    `${MANY} Its Sharpe ratio of −0.92 is not above 0: there is no skill to tell from luck.`,
  );
});

Deno.test("tries under other names are said, and count where they are enough to explain a result", () => {
  const begun = "The first try of this strategy on this market, beside 199 of other strategies or under other names.";
  const renamed = { ...first, others: { count: 199, deflated: 0.62 } };
  expect(describeTries({ ...renamed, deflated: 0.97 })).toBe(
    `${begun} Luck is not excluded: the true Sharpe ratio behind its 1.23 is above 0 with a probability of 97.00%, but ` +
      "among all of these tries that probability is 62.00%. More tries lower it.",
  );
  expect(describeTries({ ...renamed, deflated: 0.5 })).toContain(`${begun} Treat it as luck`);
  expect(describeTries({ ...renamed, others: { count: 199, deflated: 0.96 }, deflated: 0.99 })).toMatch(
    /^The first try .*, beside 199 of other .* Luck alone does not explain it: .* Confirm it/,
  );
  expect(describeTries({ ...many, others: renamed.others, deflated: 0.5 })).toContain(
    "of optimizations), beside 199 of other strategies or under other names.",
  );
});

Deno.test("a first try is compared with nothing but 0", () => {
  expect(describeTries({ ...first, deflated: 0.5 })).toBe(
    `${FIRST} Treat it as luck: the true Sharpe ratio behind its 1.23 is above 0 with a probability of 50.00%, and 95% is ` +
      "usual. More tries lower it.",
  );
});

Deno.test("a share shows on which side of the level it is, and never that something is certain", () => {
  expect(describeTries({ ...first, deflated: 0.949_99 })).toContain("94.99%, and");
  expect(describeTries({ ...first, deflated: 0.95 })).toContain("95.00%. Confirm");
  expect(describeTries({ ...first, deflated: 1 })).toContain("99.99%. Confirm");
  expect(describeTries({ ...first, where: "with this benchmark", deflated: 0.5 })).toContain(
    "The first try of this strategy with this benchmark.",
  );
  expect(describeTries({ ...first, runs: 3, deflated: 0.2 })).toContain(
    "One of 3 tries of this strategy on this market (3 runs).",
  );
});
