/** A list that lines are added to. */
export interface LogLines {
  readonly length: number;
  push(line: string): unknown;
}
