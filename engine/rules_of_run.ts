import type { Execution } from "./execution.ts";
import type { CommissionModel } from "./rules/commission/commission_model.ts";
import { commissionModelOf } from "./rules/commission/commission_models.ts";
import { EXCLUSIVE_RULES, type ExclusiveRule } from "./rules/exclusive_rules.ts";
import { FILL_RULES, type FillRule } from "./rules/fill_rules.ts";
import { Lots } from "./rules/lots.ts";
import type { MarginModel } from "./rules/margin/margin_model.ts";
import { marginModelOf } from "./rules/margin/margin_models.ts";
import type { SlippageModel } from "./rules/slippage/slippage_model.ts";
import { slippageModelOf } from "./rules/slippage/slippage_models.ts";

/** The rules of a run, ready to apply. They have no state: one serves every market of an account. */
export interface Rules {
  /** The settings that they were made from, for rules that are no more than a flag or a number. */
  readonly execution: Execution;
  readonly lots: Lots;
  readonly fill: FillRule;
  readonly exclusive: ExclusiveRule;
  readonly commission: CommissionModel;
  /** Null: nothing slips. */
  readonly slippage: SlippageModel | null;
  readonly margin: MarginModel;
}

/** The rules that these settings choose. */
export function rulesOf(execution: Execution): Rules {
  return {
    execution,
    lots: new Lots(execution.quantityStep),
    fill: FILL_RULES[execution.fill],
    exclusive: EXCLUSIVE_RULES[execution.exclusive],
    commission: commissionModelOf(execution.commission),
    slippage: execution.slippage === 0 ? null : slippageModelOf(execution.slippage),
    margin: marginModelOf(execution),
  };
}
