import type { Declaration, Known } from "./declaration.ts";

/** The languages of scripts. */
export type ScriptLanguage = "typescript" | "python";

/** A script's language: a text with a class of Strategy or Portfolio is Python. */
export function languageOf(source: string): ScriptLanguage {
  return /^class \w+\(.*(?:Strategy|Portfolio).*\):/m.test(source) ? "python" : "typescript";
}

/** The names of the language in Python's case: `crossesAbove` is `crosses_above`. Types keep theirs. */
export function toPython({ globals, members, parameters }: Declaration): Declaration {
  return {
    globals: globals.filter(({ name }) => !["strategy", "portfolio", "console"].includes(name)).map(toSnake),
    members: new Map([...members].map(([type, known]) => [type, known.map(toSnake)])),
    parameters,
  };
}

function toSnake({ name, signature, doc }: Known): Known {
  const snake = (text: string) =>
    text.replace(
      /\b[a-z]+(?:[A-Z][a-z]*)+\b/g,
      (word) => word.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    );
  return { name: snake(name), signature: snake(signature), doc: snake(doc) };
}
