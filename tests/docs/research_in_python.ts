/** Recomputes the figures of luck with the program of docs/research.md in Debian's NumPy and SciPy: `deno task test:debian`. */
import { expect } from "@std/expect";
import { measureLuck } from "../../research/overfitting.ts";
import { Random } from "../../research/numbers/random_numbers.ts";
import { RETURN_COLUMNS } from "../../routers/optimizations/trial_returns.ts";
import { writeTable } from "../../server/answers/encode_table.ts";
import { toTablePart } from "../../workers/rows/table_part.ts";
import { blockIn, readPage } from "../support/pages.ts";

const [TRIALS, DAYS, SEED, YEAR] = [12, 200, 2 ** 33 + 5, 252];

/** Trials that share a part of each day; the fourth has an edge. */
function invent(): Float64Array[] {
  const random = new Random(1);
  const shared = Float64Array.from({ length: DAYS }, () => random.normal());
  return Array.from({ length: TRIALS }, (_, trial) => {
    const edge = trial === 3 ? 0.4 : trial > 9 ? -0.4 : 0;
    return shared.map((each) => 0.01 * (0.5 * each + random.normal() + edge));
  });
}

Deno.test("the program of docs/research.md gives the service's figures", async () => {
  const program = blockIn(await readPage("docs/research.md"), "python", "def resample");
  const returns = invent();
  const numbers = returns.map((_, i) => 2 * i + 1);
  const best = 3;
  const rows = returns.flatMap((each, i) =>
    Array.from(each, (value, day) => ({ number: numbers[i]!, day: day + 1, return: value }))
  );
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const csv = writeTable("csv", RETURN_COLUMNS, [toTablePart(RETURN_COLUMNS, rows)]);
  await Deno.writeFile(`${folder}/returns.csv`, ReadableStream.from(csv));
  await Deno.writeTextFile(`${folder}/luck.py`, program);
  const args = [`${folder}/luck.py`, `${folder}/returns.csv`, String(SEED), String(YEAR), String(numbers[best])];
  const { stdout, stderr } = await new Deno.Command("/usr/bin/python3", { args }).output();
  expect(new TextDecoder().decode(stderr)).toBe("");
  const { luck, overfitting } = measureLuck({
    ...{ trials: TRIALS, returns, numbers, best, trades: 30, benchmark: null, plateau: 1, seed: SEED },
    ...{ objective: "sharpe", direction: "max", periodsPerYear: YEAR, riskFreeRate: 0 },
  });
  const { best: own, expected_best, p_value, spa_p_value, survivors } = luck;
  const { independent_trials, expected_best_sharpe, deflated_sharpe, overfitting_probability, median_rank } =
    overfitting;
  const near = (value: number | null) => expect.closeTo(value ?? NaN, 9);
  expect(JSON.parse(new TextDecoder().decode(stdout))).toEqual({
    ...{ best: near(own), expected_best: near(expected_best), p_value, spa_p_value, survivors: survivors?.count },
    ...{ independent_trials: near(independent_trials), expected_best_sharpe: near(expected_best_sharpe) },
    ...{ deflated_sharpe: near(deflated_sharpe), overfitting_probability, median_rank: near(median_rank) },
  });
  await Deno.remove(folder, { recursive: true });
});
