import vm from "node:vm";
import type { OpenedScript } from "./realm_guest.ts";
import type { Door, LastingDoor } from "./realm/realm.ts";
import { ask, isOurs } from "./realm_answers.ts";
import { LASTING_REALM_TEXT, REALM_TEXT } from "./realm_text.ts";

const REALM = new vm.Script(REALM_TEXT, { filename: "realm.js" });
const LASTING_REALM = new vm.Script(LASTING_REALM_TEXT, { filename: "realm.js" });

/**
 * Opens a realm for a compiled script: other globals, no function of ours, no way to make code from texts.
 *
 * @param placesName The global by which the script's marks write their place into the memory of decided candles; null: it has none.
 */
export function openRealm(program: vm.Script, placesName: string | null = null): OpenedScript {
  const realm = createRealm();
  const door: Door = REALM.runInContext(realm);
  if (placesName !== null) ask(() => door.showPlaces(placesName));
  return { door, run: () => runScript(door, () => program.runInContext(realm)) };
}

/**
 * Opens worlds for one script, one after the other in one realm, as long as each leaves the language's own objects as they were; else in
 * another realm. The script's lines run anew in each, as the body of a function: its own variables are new, and its code stays optimised.
 */
export class LastingRealm {
  readonly #compile: (realm: vm.Context) => () => unknown;
  #open: { readonly lasting: LastingDoor; readonly body: () => unknown } | null = null;

  /** @param compile Makes the script's lines a function of a realm. */
  constructor(compile: (realm: vm.Context) => () => unknown) {
    this.#compile = compile;
  }

  open(): OpenedScript {
    const { door, body } = this.#continue() ?? this.#begin();
    return { door, run: () => runScript(door, body) };
  }

  #continue(): { readonly door: Door; readonly body: () => unknown } | null {
    const open = this.#open;
    if (open === null) return null;
    try {
      const door = open.lasting.begin();
      return door === null ? null : { door, body: open.body };
    } catch (error) {
      if (isOurs(error)) throw error;
      return null;
    }
  }

  #begin(): { readonly door: Door; readonly body: () => unknown } {
    const realm = createRealm();
    const lasting: LastingDoor = LASTING_REALM.runInContext(realm);
    const body = this.#compile(realm);
    this.#open = { lasting, body };
    const door = lasting.begin();
    if (door === null) throw new Error("Cannot use a new realm");
    return { door, body };
  }
}

function createRealm(): vm.Context {
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
