import vm from "node:vm";
import type { OpenedScript } from "./realm_guest.ts";
import type { Door, LastingDoor } from "./realm/realm.ts";
import { ask, isOurs } from "./realm_answers.ts";
import { LASTING_REALM_TEXT, REALM_TEXT } from "./realm_text.ts";

const REALM = new vm.Script(REALM_TEXT, { filename: "realm.js" });
const LASTING_REALM = new vm.Script(LASTING_REALM_TEXT, { filename: "realm.js" });

/** A realm for scripts one after the other. */
interface Realm {
  readonly context: vm.Context;
  readonly lasting: LastingDoor;
}

/** Realms in which only a strategy of ours has run, which made their code quick. Each is for one script. */
const readied: Realm[] = [];

/**
 * Opens a realm for a compiled script: other globals, no function of ours, no way to make code from texts.
 *
 * @param placesName The global by which the script's marks write their place into the memory of decided candles; null: it has none.
 */
export function openRealm(program: vm.Script, placesName: string | null = null): OpenedScript {
  const { realm: { context }, door } = takeReadied(true) ?? makeRealm();
  if (placesName !== null) ask(() => door.showPlaces(placesName));
  const schema = () => {
    const text = ask(() => door.schema?.());
    return typeof text === "string" ? text : null;
  };
  return { door, run: () => runScript(door, () => program.runInContext(context)), schema };
}

function makeRealm(): { readonly realm: Pick<Realm, "context">; readonly door: Door } {
  const context = createContext();
  return { realm: { context }, door: REALM.runInContext(context) };
}

/** @param isLast The realm is for no script after this one. */
function takeReadied(isLast: boolean): { readonly realm: Realm; readonly door: Door } | null {
  const realm = readied.pop();
  const door = realm?.lasting.begin(isLast) ?? null;
  return realm === undefined || door === null ? null : { realm, door };
}

/**
 * Opens worlds for one script, one after the other in one realm, as long as each leaves the language's own objects as they were; else in
 * another realm. The script's lines run anew in each, as the body of a function: its own variables are new, and its code stays optimised.
 */
export class LastingRealm {
  readonly #compile: (context: vm.Context) => () => unknown;
  #open: { readonly realm: Realm; readonly body: () => unknown } | null = null;

  /** @param compile Makes the script's lines a function of a realm. */
  constructor(compile: (context: vm.Context) => () => unknown) {
    this.#compile = compile;
  }

  open(): OpenedScript {
    const { door, body } = this.#continue() ?? this.#begin();
    return { door, run: () => runScript(door, body) };
  }

  /** Leaves its realm to the next script of this process, which may be another: only a strategy of ours may do so. */
  leave(): void {
    if (this.#open !== null && !readied.includes(this.#open.realm)) readied.push(this.#open.realm);
  }

  #continue(): { readonly door: Door; readonly body: () => unknown } | null {
    const open = this.#open;
    if (open === null) return null;
    try {
      const door = open.realm.lasting.begin(false);
      return door === null ? null : { door, body: open.body };
    } catch (error) {
      if (isOurs(error)) throw error;
      return null;
    }
  }

  #begin(): { readonly door: Door; readonly body: () => unknown } {
    const { realm, door } = takeReadied(false) ?? makeLastingRealm();
    const body = this.#compile(realm.context);
    this.#open = { realm, body };
    return { door, body };
  }
}

function makeLastingRealm(): { readonly realm: Realm; readonly door: Door } {
  const context = createContext();
  const lasting: LastingDoor = LASTING_REALM.runInContext(context);
  const door = lasting.begin(false);
  if (door === null) throw new Error("Cannot use a new realm");
  return { realm: { context, lasting }, door };
}

function createContext(): vm.Context {
  return vm.createContext(vm.constants.DONT_CONTEXTIFY, { codeGeneration: { strings: false, wasm: false } });
}

/** Runs a script's own lines. @returns The description of what they threw; null: nothing. */
function runScript(door: Door, run: () => unknown): unknown {
  try {
    run();
    return null;
  } catch (error) {
    // An error of ours must not get into the realm.
    if (isOurs(error)) throw error;
    return ask(() => door.describe(error));
  }
}
