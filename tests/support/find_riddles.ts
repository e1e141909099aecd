const RIDDLE =
  /\/\*\*\s*(?:\*\s*)?((?:What|Who|Whom|Whose|Whether|That|Those|It|They|Its|Their|So|Such as|As)\b[^\n*]*)/g;

/** Docstrings whose first word makes the reader look for the noun. @returns A complaint each. */
export function findRiddles(path: string, text: string): string[] {
  return [...text.matchAll(RIDDLE)].map(({ index, 1: words = "" }) =>
    `${path}:${text.slice(0, index).split("\n").length} begins with "${words.trim()}": ` +
    'name the thing ("The rights of a token") or what the function does ("Reads the rights of a token")'
  );
}
