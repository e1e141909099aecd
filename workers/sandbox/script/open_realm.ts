import vm from "node:vm";
import type { OpenedScript } from "./realm_guest.ts";
import type { Door } from "./realm/realm.ts";
import { ask, isOurs } from "./realm_answers.ts";
import { REALM_TEXT } from "./realm_text.ts";

const REALM = new vm.Script(REALM_TEXT, { filename: "realm.js" });

/** Opens a realm for a compiled script: other globals, no function of ours, no way to make code from texts. */
export function openRealm(program: vm.Script): OpenedScript {
  const realm = vm.createContext(vm.constants.DONT_CONTEXTIFY, { codeGeneration: { strings: false, wasm: false } });
  const door: Door = REALM.runInContext(realm);
  return { door, run: () => runScript(program, realm, door) };
}

/** Runs a script's own lines. @returns The description of what they threw; null: nothing. */
function runScript(script: vm.Script, realm: vm.Context, door: Door): unknown {
  try {
    script.runInContext(realm);
    return null;
  } catch (error) {
    // An error of ours must not get into the realm.
    if (isOurs(error)) throw error;
    return ask(() => door.describe(error));
  }
}
