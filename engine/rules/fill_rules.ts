/** When a market order that was decided at a candle's close is filled. */
export interface FillRule {
  /** True: at that close, unless it is delayed; false: at the open of the next candle. */
  readonly isAtClose: boolean;
}

export const FILLS = ["next_open", "close"] as const;

export const FILL_RULES: Readonly<Record<(typeof FILLS)[number], FillRule>> = {
  next_open: { isAtClose: false },
  close: { isAtClose: true },
};
