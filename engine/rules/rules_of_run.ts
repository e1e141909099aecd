import type { Execution } from "../execution.ts";
import type { CommissionModel } from "./commission/commission_model.ts";
import { commissionModelOf } from "./commission/commission_models.ts";
import { EXCLUSIVE_RULES, type ExclusiveRule } from "./exclusive_rules.ts";
import { FILL_RULES, type FillRule } from "./fill_rules.ts";
import { Lots } from "./lots.ts";
import type { MarginModel } from "./margin/margin_model.ts";
import { marginModelOf } from "./margin/margin_models.ts";
import type { SlippageModel } from "./slippage/slippage_model.ts";
import { slippageModelOf } from "./slippage/slippage_models.ts";

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
    slippage: slippageModelOf(execution.slippage),
    margin: marginModelOf(execution),
  };
}
