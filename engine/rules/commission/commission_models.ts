import type { CommissionModel } from "./commission_model.ts";
import { PartsCommission, type PartsSettings } from "./parts_commission.ts";

/** The fee of one fill, complete. A further model joins this union with its settings, and has its row below. */
export type Commission = PartsSettings;

/** The model of these settings. */
export function commissionModelOf(commission: Commission): CommissionModel {
  return new PartsCommission(commission);
}
