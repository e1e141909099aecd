/** Why a metric has no value: lower-case clauses that can follow "undefined: ". */
export const NO_DRAWDOWN = "equity never fell below its peak";
export const NO_EQUITY = "equity was zero throughout";
export const NEGATIVE_EQUITY = "a negative equity has no growth rate";
export const TWO_RETURNS = "fewer than two daily returns";
export const THREE_RETURNS = "fewer than three daily returns";
export const FOUR_RETURNS = "fewer than four daily returns";
export const TWO_DAYS = "fewer than two days after the first";
export const NO_DEVIATION = "all daily returns are equal";
export const NO_SHORTFALL = "no daily return is below the risk-free rate";
export const NO_VARIANCE = "the estimate's variance is not positive";
export const TWO_SHARED_DAYS = "the benchmark has fewer than two returns in these days";
export const NO_MOVEMENT = "the benchmark's price does not move";
export const NO_TRACKING = "every daily return is the benchmark's";
export const NO_BETA = "beta is 0";
export const NO_TAIL = "the 5% quantile of the daily returns is 0";
export const NO_TRADE = "no closed trade";
export const TWO_TRADES = "fewer than two closed trades";
export const NO_WIN = "no closed trade won";
export const NO_LOSS = "no closed trade lost";
export const SAME_PNL = "all closed trades have the same pnl";
/** Any metric may have this one. */
export const TOO_LARGE = "beyond the range of numbers";
