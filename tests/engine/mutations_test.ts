import { expect } from "@std/expect";
import { MUTATIONS } from "./mutations_list.ts";

const ROOT = new URL("../..", import.meta.url).pathname;

Deno.test("every mutation changes one place of the sources, so that the list cannot rot", () => {
  const count = ({ file, text }: { file: string; text: string }) =>
    Deno.readTextFileSync(ROOT + file).split(text).length - 1;
  expect(MUTATIONS.filter((mutation) => count(mutation) !== 1)).toEqual([]);
});

Deno.test("every mutation changes something, and breaks a rule of its own", () => {
  expect(MUTATIONS.length).toBeGreaterThanOrEqual(25);
  expect(MUTATIONS.filter(({ text, replacement }) => text === replacement)).toEqual([]);
  expect(new Set(MUTATIONS.map(({ rule }) => rule)).size).toBe(MUTATIONS.length);
});
