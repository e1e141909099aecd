/**
 * Marks the places of a script's statements and loops, so that its process sees where one goes on for ever. Only a script that has just
 * been ended for it runs once more with marks: where a mark would be wrong, no place is named.
 */

import { PLACE_COLUMNS, PLACE_WORD } from "../contracts/places.ts";

/** The marks' name. In a script that uses it for itself, no place is found. */
export const PLACES_NAME = "__hindcastPlaces";

type Kind = "statements" | "while" | "for" | "switch" | "other" | "template";

/** A word, a number or a sign of a text, in its order; texts, patterns and comments are none, and count as a value or nothing. */
const SKIPPED = /\s+|\/\/[^\n]*|\/\*[^]*?\*\//y;
const WORD = /[\p{ID_Continue}$#@]+/yu;
const TEXT = /"(?:\\[^]|[^"\\\n])*"|'(?:\\[^]|[^'\\\n])*'/y;
const PATTERN = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*/y;
const TEMPLATE_PART = /(?:\\[^]|\$(?!\{)|[^`\\$])*(`|\$\{)/y;
/** Behind these words a slash begins a pattern. */
const BEFORE_VALUE = /^(?:return|typeof|case|in|of|delete|void|throw|new|do|else|yield|await|instanceof)$/;
const OPENS_STATEMENTS = /^(?:else|do|try|finally|catch)$/;
const KINDS: Readonly<Record<string, Kind>> = { while: "while", for: "for", switch: "switch" };

/** The text with a mark before each statement that is certain to be one, and in the head of each loop. */
export function markPlaces(code: string): string {
  const marker = new Marker(code);
  marker.run();
  return marker.marked;
}

class Marker {
  readonly #code: string;
  readonly #open: Kind[] = [];
  #at = 0;
  #copied = 0;
  #line = 1;
  #lineAt = 0;
  #counted = 0;
  /** The token before, and the kind of the bracket that closed last. */
  #before = "";
  #closed: Kind = "other";
  marked = "";

  constructor(code: string) {
    this.#code = code;
  }

  run(): void {
    while (this.#at < this.#code.length) this.#step();
    this.marked += this.#code.slice(this.#copied);
  }

  #take(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#code);
    if (found === null) return null;
    this.#at = pattern.lastIndex;
    return found[0];
  }

  #step(): void {
    if (this.#take(SKIPPED) !== null) return;
    const word = this.#take(WORD);
    if (word !== null) return void (this.#before = word);
    if (this.#take(TEXT) !== null) return void (this.#before = "text");
    const isValue = /[\p{ID_Continue}$)\]}]$/u.test(this.#before) && !BEFORE_VALUE.test(this.#before);
    if (this.#code[this.#at] === "/" && !isValue && this.#take(PATTERN) !== null) return void (this.#before = "text");
    this.#takeSign(this.#code[this.#at++]!);
  }

  #takeSign(sign: string): void {
    const before = this.#before;
    this.#before = sign === ">" && before === "=" ? "=>" : sign;
    if (sign === "`") return this.#takeTemplate();
    if (sign === "(") {
      const kind = KINDS[before] ?? "other";
      this.#open.push(kind);
      if (kind === "while") this.#mark(",");
    } else if (sign === "[") this.#open.push("other");
    else if (sign === "{") this.#openBrace(before);
    else if (")]}".includes(sign)) {
      this.#closed = this.#open.pop() ?? "other";
      if (sign === "}" && this.#closed === "template") this.#takeTemplate();
    } else if (sign === ";") this.#endStatement();
  }

  #openBrace(before: string): void {
    const isBody = before === ")" && this.#closed !== "switch";
    const hasStatements = isBody || before === "=>" || OPENS_STATEMENTS.test(before);
    this.#open.push(hasStatements ? "statements" : "other");
    if (hasStatements) this.#mark(";");
  }

  #takeTemplate(): void {
    const part = this.#take(TEMPLATE_PART) ?? "";
    if (part.endsWith("${")) this.#open.push("template");
    this.#before = "text";
  }

  #endStatement(): void {
    const kind = this.#open.at(-1) ?? "statements";
    const behind = /^\s*(;|else\b|while\b)?/.exec(this.#code.slice(this.#at, this.#at + 200))?.[1];
    if (kind === "for") {
      this.#open[this.#open.length - 1] = "other";
      this.#mark(behind === ";" ? "" : ",");
    } else if (kind === "statements" && behind === undefined) this.#mark(";");
  }

  /** Writes a mark of the next word. @param end Behind the mark. */
  #mark(end: string): void {
    const { index } = /\S|$/.exec(this.#code.slice(this.#at))!;
    for (; this.#counted < this.#at + index; this.#counted++) {
      if (this.#code[this.#counted] !== "\n") continue;
      this.#line++;
      this.#lineAt = this.#counted + 1;
    }
    const column = Math.min(this.#at + index - this.#lineAt + 1, PLACE_COLUMNS - 1);
    const mark = `${PLACES_NAME}[${PLACE_WORD}]=${this.#line * PLACE_COLUMNS + column}${end}`;
    this.marked += this.#code.slice(this.#copied, this.#at) + mark;
    this.#copied = this.#at;
  }
}
