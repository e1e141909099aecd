/** The record that a link shows. */
export interface ShareSubject {
  readonly backtest_id?: string;
  /** Of a comparison. */
  readonly backtest_ids?: string[];
  readonly optimization_id?: string;
}
