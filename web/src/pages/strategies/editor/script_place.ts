/** A place in a script's text; both count from 1. */
interface ScriptPlace {
  readonly line: number;
  readonly column: number;
}

/** The place that a message about a script names, as in `strategy.ts:2:22: Expression expected` or `strategy.py:2:22`; null if it names none. */
export function findPlace(message: string): ScriptPlace | null {
  const [, line, column] = /strategy\.(?:ts|py):(\d+):(\d+)/.exec(message) ?? [];
  return line === undefined ? null : { line: Number(line), column: Number(column) };
}

/** The index of a place in a text; the end of its line where the line is shorter. */
export function indexOfPlace(text: string, { line, column }: ScriptPlace): number {
  const lines = text.split("\n");
  const before = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
  return before + Math.min(column - 1, lines[line - 1]?.length ?? 0);
}
