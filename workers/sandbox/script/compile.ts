import { stripTypeScriptTypes } from "node:module";
import vm from "node:vm";
import { SCRIPT_FILE, SOURCE_BYTES_MAX } from "../contracts/layout.ts";
import type { CompiledScript } from "./guest.ts";
import { ScriptFault } from "./fault.ts";
import { markPlaces, PLACES_NAME } from "./mark_places.ts";
import { LastingRealm, openRealm } from "./open_realm.ts";
import { Reads } from "./reads.ts";

/** The prefix makes a script strict. It is a line before the first one: the runtime does not survive columns below zero. */
const STRICT = '"use strict";\n';
const PLACE = { filename: SCRIPT_FILE, lineOffset: -1 };
/** A hashbang would have to be the first line. */
const HASHBANG = /^#!/;
/** Comments, and the texts in which `//` is none. */
const COMMENTS =
  /\/\/[^\n\r\u2028\u2029]*|\/\*[^]*?(?:\*\/|$)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|`(?:\\[^]|[^`\\])*`?/g;
/** No text can end in it and be a program, so what ends in it is parsed and never run. */
const UNFINISHED = "\n\\";

/**
 * Compiles a script, without running it: the types go, the lines and columns stay.
 *
 * @param seePlace Given, the script marks its place as it runs (mark_places.ts), in a word of a memory that this gets.
 * @throws {ScriptFault} When it is too long, is no TypeScript, or uses what is refused by name.
 */
export async function compileScript(
  text: string,
  seePlace: ((memory: SharedArrayBuffer) => void) | null = null,
): Promise<CompiledScript> {
  const source = text.replace(COMMENTS, spareWord);
  checkText(source);
  let code: string;
  try {
    code = stripTypeScriptTypes(source.replace(HASHBANG, "//"));
  } catch (error) {
    throw await explain(source, error);
  }
  if (seePlace !== null) return compileMarked(code, seePlace);
  try {
    const program = new vm.Script(STRICT + code, PLACE);
    const lasting: LastingRealm[] = [];
    const openAgain = (market = 0) => (lasting[market] ??= makeLastingRealm(code)).open();
    return { open: () => openRealm(program), openAgain, reads: new Reads(code) };
  } catch (error) {
    throw await explain(source, error);
  }
}

/** Makes a realm in which the same code, of a script without types, runs one time after the other. */
export function makeLastingRealm(code: string): LastingRealm {
  return new LastingRealm((context) => {
    const body = vm.compileFunction(STRICT + code, [], { ...PLACE, parsingContext: context });
    return () => Reflect.apply(body, undefined, []);
  });
}

/** @throws {ScriptFault} When a mark stands where none may. */
function compileMarked(code: string, seePlace: (memory: SharedArrayBuffer) => void): CompiledScript {
  let program: vm.Script;
  try {
    program = new vm.Script(STRICT + markPlaces(code), PLACE);
  } catch (error) {
    throw new ScriptFault(String(error));
  }
  const open = () => {
    const opened = openRealm(program, PLACES_NAME);
    seePlace(opened.door.decided());
    return opened;
  };
  return { open, reads: new Reads(code) };
}

/**
 * Capitalises the word import in a comment, where it means nothing. A text that is mistaken for a comment loses it as well, so that
 * no mistake leads to an import.
 */
function spareWord(part: string): string {
  return part.startsWith("/") ? part.replace(/\bimport\b/g, "Import") : part;
}

function checkText(source: string): void {
  const bytes = new TextEncoder().encode(source).length;
  if (bytes > SOURCE_BYTES_MAX) {
    throw new ScriptFault(`it has ${bytes} bytes: at most ${SOURCE_BYTES_MAX} are accepted`);
  }
  if (!source.isWellFormed()) throw new ScriptFault("it has half of a surrogate pair");
  // A dynamic import would be the host's. The word cannot be written with escapes, so it is found wherever it works.
  const found = /\bimport\b/.exec(source);
  if (found === null) return;
  const place = placeOf(source, found.index);
  throw new ScriptFault(`${SCRIPT_FILE}:${place}: import cannot be used, not even in quotes: a script is one file`);
}

function placeOf(source: string, index: number): string {
  const lines = source.slice(0, index).split(/\r\n|[\n\r\u2028\u2029]/);
  return `${lines.length}:${lines.at(-1)!.length + 1}`;
}

/** The fault of a script that the runtime refused, with its place. */
async function explain(source: string, error: unknown): Promise<ScriptFault> {
  const message = error instanceof Error ? error.message : String(error);
  const at = /^([\s\S]*?) at file:\/\/\/[^:]*:(\d+:\d+)$/.exec(message);
  if (at !== null) return new ScriptFault(`${SCRIPT_FILE}:${at[2]}: ${inPlainWords(at[1]!)}`);
  const found = await locate(source);
  return new ScriptFault(found ?? `${SCRIPT_FILE}: ${message.replace(/^\[\w+\] /, "")}`);
}

function inPlainWords(message: string): string {
  const code = /^TypeScript (.+?) (?:is|are) not supported in strip-only mode$/.exec(message)?.[1];
  return code === undefined ? message : `${code} cannot be used: only types are taken out, and this is code`;
}

/** The first error of a text by the runtime's own parser, which says where; null if it sees none. */
async function locate(source: string): Promise<string | null> {
  const text = new TextEncoder().encode(source + UNFINISHED);
  const problem = await import(`data:application/typescript;base64,${text.toBase64()}`).then(() => "", String);
  const found = /SyntaxError: (.*)[\s\S]* at data:[^:]*:(\d+):(\d+)/.exec(problem);
  const [, message, line, column] = found ?? [];
  if (message === undefined || Number(line) > source.split("\n").length) return null;
  return `${SCRIPT_FILE}:${line}:${column}: ${message}`;
}
