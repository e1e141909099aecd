import { expect } from "@std/expect";
import { describeApi } from "../../server/openapi/document.ts";
import words from "../../server/openapi/field_words.json" with { type: "json" };

/** A part of the description, as far as fields are concerned. */
interface Part {
  readonly properties?: Readonly<Record<string, Part>>;
  readonly description?: string;
  readonly $ref?: string;
}

/** Every object within a value. */
function* partsOf(value: unknown): Generator<object> {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value)) yield value;
  for (const [key, part] of Object.entries(value)) if (key !== "example") yield* partsOf(part);
}

Deno.test("every field and parameter of the API has words, and all words are used", () => {
  const description = describeApi();
  const [undescribed, used] = [new Set<string>(), new Set<string>()];
  const note = (name: string, { description: text, $ref }: Part) => {
    if (text !== undefined) used.add(text);
    else if ($ref === undefined) undescribed.add(name);
  };
  for (const part of partsOf(description)) {
    const { properties = {}, parameters = [] }: Part & { parameters?: readonly (Part & { name: string })[] } = part;
    // An answer narrows the codes of the Error that it refers to.
    const isNarrowed = JSON.stringify(properties).startsWith('{"error":{"type":"object","properties":{"code":{"enum"');
    if (typeof properties === "object" && !isNarrowed) {
      for (const [name, property] of Object.entries(properties)) note(name, property);
    }
    if (Array.isArray(parameters)) { for (const parameter of parameters) note(parameter.name, parameter); }
  }
  undescribed.delete("code");
  expect([...undescribed]).toEqual([]);
  expect(Object.entries(words).filter(([, text]) => !used.has(text)).map(([key]) => key)).toEqual([]);
});
