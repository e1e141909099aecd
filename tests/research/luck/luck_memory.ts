/** Measures the luck of as many trials as may be compared, over ten years of days, and prints the bytes that it took at most. */
import { chooseConsidered, trialsConsidered } from "../../../research/luck/considered_trials.ts";
import { measureOf } from "../../../research/luck/measures.ts";
import { measureLuckPart } from "../../../research/overfitting.ts";
import { Random } from "../../../research/numbers/random_numbers.ts";

const [TRIALS, DAYS, YEAR] = [1_000, 3_652, 365];
const random = new Random(1);
const before = Deno.memoryUsage().rss;
let most = before;
const look = () => most = Math.max(most, Deno.memoryUsage().rss);
const chosen = chooseConsidered(
  Array.from({ length: TRIALS }, (_, i) => i),
  "max",
  trialsConsidered(measureOf("sharpe", YEAR), DAYS),
);
const returns = chosen.map(() => Float64Array.from({ length: DAYS }, () => 0.01 * random.normal()));
measureLuckPart(
  {
    ...{ trials: TRIALS, returns, numbers: chosen, best: 0, trades: 100, plateau: 1, seed: 0 },
    ...{ objective: "sharpe", direction: "max", benchmark: returns[1]!, periodsPerYear: YEAR, riskFreeRate: 0 },
  },
  { part: 0, parts: 1 },
  look,
);
look();
await Deno.stdout.write(new TextEncoder().encode(JSON.stringify({ trials: chosen.length, bytes: most - before })));
