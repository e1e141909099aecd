import { expect } from "@std/expect";
import { CONSTRAINT_LENGTH_MAX, CONSTRAINT_TERMS_MAX } from "../../research/constraints.ts";
import { EXECUTION_AXES } from "../../research/execution_axes.ts";
import { BLOCKS } from "../../research/block_totals.ts";
import { FIGURE_NAMES } from "../../research/monte_carlo/paths.ts";
import { ENDPOINT_RUNS_MAX, MONTE_CARLO_METHODS, PATH_STEPS_MAX } from "../../research/monte_carlo/request.ts";
import { SAMPLINGS } from "../../research/monte_carlo/path_sample.ts";
import { resamplesOf, TRIALS_CONSIDERED_MAX } from "../../research/luck/considered_trials.ts";
import { GROUPS } from "../../research/luck/tested_paths.ts";
import { DAYS_MIN, TRADES_MIN, VERDICTS } from "../../research/luck/verdict.ts";
import { measureLuck } from "../../research/overfitting.ts";
import { OPERATIONS } from "../../server/openapi/operations.ts";
import words from "../../server/openapi/field_words.json" with { type: "json" };
import { PARAMETER_NAME_LENGTH_MAX, SPACE_PARAMETERS_MAX, SPACE_VALUES_MAX } from "../../research/parse_space.ts";
import { FIRST_POINTS } from "../../research/tpe.ts";
import { UNENDED_MAX } from "../../routers/monte_carlo/monte_carlo_submission.ts";
import { OF_BACKTEST_MAX } from "../../routers/runs/few_studies.ts";
import { SPACE_BYTES_MAX, WALK_WINDOWS_MAX } from "../../routers/optimizations/optimization_request.ts";
import { stitchWindows } from "../../research/walk_forward.ts";
import { readPage, rowsOf } from "../support/pages.ts";

const page = (await readPage("docs/research.md")).replaceAll(/\s+/g, " ");
const grouped = (number: number) => number.toLocaleString("en-US");

Deno.test("docs/research.md states the limits that the code has", () => {
  expect(page).toContain(`at most ${SPACE_PARAMETERS_MAX} parameters`);
  expect(page).toContain(`at most ${grouped(SPACE_VALUES_MAX)} values`);
  expect(page).toContain(`at most ${CONSTRAINT_LENGTH_MAX} characters`);
  expect(page).toContain(`together have at most ${CONSTRAINT_TERMS_MAX} names and numbers`);
  expect(page).toContain(`starts with ${FIRST_POINTS} random points`);
  expect(page).toContain(`At most ${grouped(TRIALS_CONSIDERED_MAX)} trials are compared`);
  expect(page).toContain(`cut into ${BLOCKS} blocks`);
  expect(page).toContain(`cut into ${GROUPS.default} equal parts`);
  expect(page).toContain(`with ${GROUPS.min} to ${GROUPS.max} parts`);
  expect(page).toContain(`${resamplesOf({ kind: "sums" })} resamples`);
  expect(page).toContain(`${resamplesOf({ kind: "path" })} for`);
  expect(page).toContain(`fewer than ${DAYS_MIN} daily returns or ${TRADES_MIN} closed trades`);
  expect(page).toContain(`has at most ${WALK_WINDOWS_MAX} windows`);
  expect(page).toContain(`A space as JSON has at most ${grouped(SPACE_BYTES_MAX)} bytes`);
  for (const name of EXECUTION_AXES) expect(page).toContain(`\`${name}\``);
  expect(page).toContain(`a name in it at most ${PARAMETER_NAME_LENGTH_MAX} characters`);
});

Deno.test("docs/research.md defines each figure of an optimization's luck", () => {
  const { luck, overfitting } = measureLuck({
    ...{ trials: 1, returns: [new Float64Array(9)], numbers: [1], best: 0, trades: 0, plateau: 1, seed: 0 },
    ...{ objective: "sharpe", direction: "max", benchmark: null, periodsPerYear: 365, riskFreeRate: 0 },
  });
  const explained = ["trials", "trials_considered", "sharpe", "undefined_figures"];
  for (const figure of Object.keys({ ...luck, ...overfitting }).filter((name) => !explained.includes(name))) {
    expect([figure, page.includes(`| \`${figure}\` |`)]).toEqual([figure, true]);
  }
  for (const verdict of VERDICTS) expect(page).toContain(`\`${verdict}\``);
});

Deno.test("the description of the API and docs/research.md describe Monte Carlo simulations as they are", async () => {
  expect(words["monte_carlo.runs"]).toContain(
    `fewer where all together would have more than ${grouped(PATH_STEPS_MAX)} trades or candles; at most ` +
      `${ENDPOINT_RUNS_MAX} for \`candles\` of a remote strategy`,
  );
  expect(OPERATIONS["monteCarlo.create"]?.description).toContain(
    `Of a user, ${UNENDED_MAX} may be queued or running, and a backtest may have ${OF_BACKTEST_MAX}`,
  );
  for (const sampling of SAMPLINGS) expect(words.sampling).toContain(`\`${sampling}\``);
  const rows = rowsOf(await readPage("docs/research.md")).map(([name = ""]) => name);
  expect(rows).toEqual(expect.arrayContaining([...MONTE_CARLO_METHODS, ...FIGURE_NAMES].map((name) => `\`${name}\``)));
});

Deno.test("docs/research.md names each figure of the account out of sample", () => {
  const rates = { initialBalance: 1, periodsPerYear: 365, riskFreeRate: 0 };
  // The service adds the last ones.
  const figures = [...Object.keys(stitchWindows([], rates)), "exposure", "in_sample_exposure", "stability"];
  const explained = ["windows", "days", "final_equity", "undefined_figures", "equity"];
  for (const figure of figures.filter((name) => !explained.includes(name))) expect(page).toContain(`\`${figure}\``);
});
