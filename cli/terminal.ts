const encoder = new TextEncoder();
const COLUMNS_ELSEWHERE = 120;
const STYLES = { bold: 1, dim: 2, red: 31, green: 32, cyan: 36 };

/** Gives a text a style, or leaves it as it is. */
export type Paint = (style: keyof typeof STYLES, text: string) => string;

/** Paints with ANSI escape sequences. */
export const inColor: Paint = (style, text) => text === "" ? "" : `\x1b[${STYLES[style]}m${text}\x1b[0m`;

/** Leaves every text as it is, for files, pipes and NO_COLOR. */
export const withoutColor: Paint = (_, text) => text;

/** True if standard output shows colours. */
export function showsColor(): boolean {
  return Deno.stdout.isTerminal() && !Deno.noColor;
}

/** The width of the terminal; of a file, a pipe, or a terminal that does not tell its size, one that the tables have room in. */
export function columnsOf(): number {
  return Deno.stdout.isTerminal() ? Deno.consoleSize().columns || COLUMNS_ELSEWHERE : COLUMNS_ELSEWHERE;
}

/** Breaks a text into lines of at most `columnsMax` characters between words. */
export function wrap(text: string, columnsMax: number): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines.at(-1)!;
    const longer = line === "" ? word : `${line} ${word}`;
    if (longer.length <= columnsMax) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

// Characters that a terminal obeys, besides ends of lines and tabs, and those that turn the direction of text.
const COMMANDS = /(?![\n\t])[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;
const ESCAPE = "\x1b";
const COLOR = /^\[[\d;]{1,20}m/;

/** Without the characters that command a terminal, but for colours: others choose the names and texts of an answer. */
export function withoutCommands(text: string): string {
  const isColor = (found: string, at: number) => found === ESCAPE && COLOR.test(text.slice(at + 1, at + 24));
  return text.replaceAll(COMMANDS, (found, at: number) => isColor(found, at) ? found : "\ufffd");
}

/** Prints a line to standard output. */
export function say(line = ""): void {
  write(Deno.stdout, `${line}\n`);
}

/** Prints a line to standard error. */
export function warn(line: string): void {
  write(Deno.stderr, `${withoutCommands(line)}\n`);
}

/** Prints the reason to standard error and ends the command with exit code 1. */
export function stop(message: string): never {
  warn(message);
  Deno.exit(1);
}

/** Prints text as it is, without a line end. */
export function print(text: string): void {
  write(Deno.stdout, text);
}

function write(stream: { writeSync(bytes: Uint8Array): number }, text: string): void {
  let bytes = encoder.encode(text);
  while (bytes.length > 0) bytes = bytes.subarray(stream.writeSync(bytes));
}
