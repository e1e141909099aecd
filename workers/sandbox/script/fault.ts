/** A script cannot be used; the message has its own line and column where they are known. */
export class ScriptFault extends Error {
  override readonly name = "ScriptFault";
}
