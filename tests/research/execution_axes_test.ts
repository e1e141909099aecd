import { expect } from "@std/expect";
import { resolveExecution } from "../../engine/execution.ts";
import { EXECUTION_AXES, executionOf, ownParameters, withExecutionAxes } from "../../research/execution_axes.ts";
import { executionRequestSchema } from "../../routers/runs/execution_request.ts";

const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  "execution.commission": [0, 0.5],
  "execution.spread": [0, 0.5],
  "execution.slippage.bps": [0, 5000],
  "execution.delay": [0, 100],
  "execution.leverage": [1, 1000],
  "execution.fill": ["next_open", "close"],
  "execution.limitFill": ["touch", "penetrate"],
  "execution.allowShort": [true, false],
};

Deno.test("a setting of a point changes the execution, and a request may have each of its values", () => {
  const execution = resolveExecution({ commission: { rate: 0.1, fixed: 2 } }, "crypto");
  expect(Object.keys(VALUES)).toEqual([...EXECUTION_AXES]);
  for (const [name, values] of Object.entries(VALUES)) {
    for (const value of values) {
      const changed = executionOf(execution, { fast: 3, [name]: value });
      expect(executionRequestSchema.safeParse(changed).success).toBe(true);
      expect(JSON.stringify(changed)).toContain(`:${JSON.stringify(value)}`);
    }
  }
  expect(executionOf(execution, { "execution.commission": 0.2 }).commission).toMatchObject({ rate: 0.2, fixed: 2 });
  expect(executionOf(execution, { fast: 3 })).toBe(execution);
});

Deno.test("settings are apart from the strategy's own parameters", () => {
  expect(ownParameters({ fast: 3, "execution.delay": 1 })).toEqual({ fast: 3 });
  const schema = withExecutionAxes({ type: "object", properties: { fast: { type: "integer" } } });
  expect(Object.keys(Object(schema["properties"]))).toEqual(["fast", ...EXECUTION_AXES]);
});
