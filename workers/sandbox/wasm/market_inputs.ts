/** Other candles of an instance that decides on many markets: a table of inputs for each of them. */
import type { InputCandles } from "../../../engine/inputs.ts";
import type { MarketView } from "../../../engine/portfolio/portfolio.ts";
import { MARKETS } from "../contracts/abi.ts";
import { GuestInputs, inputsBytes } from "./guest_inputs.ts";

const POINTER_BYTES = 4;

/** Bytes of the addresses of the tables, and of the tables with their columns. @param asked Of each market. */
export function marketInputsBytes(asked: readonly (readonly InputCandles[])[]): readonly [number, number] {
  const pointers = asked.some(({ length }) => length > 0) ? asked.length * POINTER_BYTES : 0;
  return [pointers, asked.reduce((sum, inputs) => sum + inputsBytes(inputs), 0)];
}

export class MarketInputs {
  readonly #inputs: readonly GuestInputs[];

  /**
   * @param asked Of each market, the same number.
   * @param at Addresses of the block of markets, and of `marketInputsBytes`, all of them the host's.
   */
  constructor(
    asked: readonly (readonly InputCandles[])[],
    markets: readonly MarketView[],
    memory: WebAssembly.Memory,
    at: { readonly block: number; readonly pointers: number; readonly tables: number },
  ) {
    const words = new Int32Array(memory.buffer);
    let table = at.tables;
    this.#inputs = marketInputsBytes(asked)[0] === 0 ? [] : asked.map((inputs, n) => {
      words[at.pointers / POINTER_BYTES + n] = table;
      const shown = new GuestInputs(inputs, markets[n]!.candles, memory, table);
      table += inputsBytes(inputs);
      return shown;
    });
    words[(at.block + MARKETS.inputTables) / 4] = this.#inputs.length === 0 ? 0 : at.pointers;
  }

  /** Shows what had closed by the newest close of each market. */
  show(markets: readonly MarketView[]): void {
    for (const [n, inputs] of this.#inputs.entries()) {
      const { i } = markets[n]!;
      if (i >= 0) inputs.show(i, i + 1);
    }
  }
}
