import type { Holding, MarginModel } from "./margin_model.ts";

/** Settings of execution.ts by these names. */
export interface LeverageSettings {
  readonly leverage: number;
  readonly marginCall: boolean;
  readonly maintenanceMargin: number;
}

/**
 * One leverage for all positions. The initial margin is value / leverage, and the maintenance margin is maintenanceMargin
 * times that. A long at leverage 1 has borrowed nothing, and has none.
 */
export class LeverageMargin implements MarginModel {
  readonly #leverage: number;
  readonly #marginCall: boolean;
  readonly #maintenanceMargin: number;

  constructor({ leverage, marginCall, maintenanceMargin }: LeverageSettings) {
    this.#leverage = leverage;
    this.#marginCall = marginCall;
    this.#maintenanceMargin = maintenanceMargin;
  }

  initialOf(value: number): number {
    return value / this.#leverage;
  }

  freeOf(
    equity: number,
    quantity: number,
    price: number,
    { marginElsewhere }: Pick<Holding, "marginElsewhere">,
  ): number {
    return Math.max(0, equity - Math.abs(quantity) * price / this.#leverage - marginElsewhere);
  }

  buyingPowerOf(free: number): number {
    return free * this.#leverage;
  }

  maintenanceOf(quantity: number, price: number): number {
    if (!this.#borrows(quantity)) return 0;
    return this.#maintenanceMargin * Math.abs(quantity) * price / this.#leverage;
  }

  mayCall(quantity: number): boolean {
    return this.#marginCall && quantity !== 0 && this.#borrows(quantity);
  }

  isCalled(holding: Holding, price: number): boolean {
    const { quantity } = holding;
    if (!this.#marginCall || quantity === 0) return false;
    const { maintenanceElsewhere } = holding;
    if (maintenanceElsewhere === 0 && !this.#borrows(quantity)) return false;
    return holding.worstCash + quantity * price < this.maintenanceOf(quantity, price) + maintenanceElsewhere;
  }

  callPriceOf({ cash, quantity }: Pick<Holding, "cash" | "quantity">): number {
    if (!this.mayCall(quantity)) return NaN;
    const perUnit = this.#maintenanceMargin / this.#leverage;
    return quantity > 0 ? -cash / (quantity * (1 - perUnit)) : cash / (-quantity * (1 + perUnit));
  }

  #borrows(quantity: number): boolean {
    return quantity < 0 || this.#leverage > 1;
  }
}
