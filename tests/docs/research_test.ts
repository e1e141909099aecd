import { expect } from "@std/expect";
import { CONSTRAINT_LENGTH_MAX } from "../../research/constraints.ts";
import { BLOCKS } from "../../research/cross_validation.ts";
import { measureOverfitting, TRIALS_CONSIDERED_MAX } from "../../research/overfitting.ts";
import { SPACE_PARAMETERS_MAX, SPACE_VALUES_MAX } from "../../research/parse_space.ts";
import { FIRST_POINTS } from "../../research/tpe.ts";
import { SAME_CORRELATION } from "../../research/trial_clusters.ts";
import { readPage } from "../support/pages.ts";

const page = (await readPage("docs/research.md")).replaceAll(/\s+/g, " ");
const grouped = (number: number) => number.toLocaleString("en-US");

Deno.test("docs/research.md states the limits that the code has", () => {
  expect(page).toContain(`at most ${SPACE_PARAMETERS_MAX} parameters`);
  expect(page).toContain(`at most ${grouped(SPACE_VALUES_MAX)} values`);
  expect(page).toContain(`at most ${CONSTRAINT_LENGTH_MAX} characters`);
  expect(page).toContain(`starts with ${FIRST_POINTS} random points`);
  expect(page).toContain(`At most ${grouped(TRIALS_CONSIDERED_MAX)} trials are compared`);
  expect(page).toContain(`cut into ${BLOCKS} blocks`);
  expect(page).toContain(`correlates by ${SAME_CORRELATION} or more`);
});

Deno.test("docs/research.md defines each figure of an optimization's luck", () => {
  const figures = measureOverfitting({
    trials: 1,
    returns: [new Float64Array(9)],
    best: 0,
    periodsPerYear: 365,
    riskFreeRate: 0,
    plateau: 1,
  });
  const explained = ["trials", "trials_considered", "sharpe", "undefined_figures"];
  for (const figure of Object.keys(figures).filter((name) => !explained.includes(name))) {
    expect(page).toContain(`| \`${figure}\` |`);
  }
});
