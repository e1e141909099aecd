/** Schemas and values that are made to take long, as large as requests may be: a text, thousands of rules, objects in lists. */
export function craftedCases(): readonly { readonly schema: unknown; readonly value: unknown }[] {
  const text = "x".repeat(16_000);
  const numbers = repeat(5_000, (i) => i);
  const objects = repeat(900, (i) => ({ a: i, b: [i] }));
  const named = <Rule>(count: number, name: string, rule: (i: number) => Rule) =>
    Object.fromEntries(repeat(count, (i) => [`${name}${i}`, rule(i)]));
  return [
    { schema: { allOf: repeat(3_000, (i) => ({ minLength: i })) }, value: text },
    { schema: { allOf: repeat(3_000, (i) => ({ minLength: i })) }, value: "𝄞".repeat(4_000) },
    { schema: { anyOf: repeat(3_000, () => ({ const: `${text}y` })) }, value: text },
    { schema: { allOf: repeat(3_000, () => ({ uniqueItems: true })) }, value: numbers },
    { schema: { allOf: repeat(3_000, () => ({ uniqueItems: true })) }, value: objects },
    { schema: { items: { enum: [text.repeat(4)] } }, value: numbers },
    { schema: { items: { enum: repeat(20, () => text) } }, value: numbers },
    { schema: { items: { enum: objects } }, value: objects },
    { schema: { items: { not: { const: text.repeat(4) } } }, value: numbers },
    { schema: { items: { anyOf: repeat(3_000, (i) => ({ const: -1 - i })) } }, value: numbers },
    { schema: { items: { enum: repeat(3_000, (i) => -1 - i) } }, value: numbers },
    { schema: { items: { allOf: repeat(2_000, (i) => ({ multipleOf: i + 1 })) } }, value: numbers },
    { schema: { items: nested(4, "anyOf", 6) }, value: numbers },
    { schema: { anyOf: repeat(3_000, () => ({ required: ["b"] })) }, value: { ...numbers } },
    { schema: { required: repeat(6_000, (i) => `r${i}`) }, value: {} },
    { schema: nested(12, "anyOf", 2), value: 1 },
    { schema: nested(11, "allOf", 2), value: 1 },
    { schema: nested(11, "oneOf", 2), value: 1 },
    { schema: { properties: { ["x".repeat(100)]: nested(11, "allOf", 2) } }, value: { ["x".repeat(100)]: 1 } },
    { schema: { properties: named(2_500, "p", () => ({ minimum: 3_000 })) }, value: named(1_500, "p", (i) => i) },
    { schema: { additionalProperties: false, properties: named(3_000, "p", () => ({})) }, value: { ...numbers } },
  ];
}

function repeat<Made>(count: number, make: (i: number) => Made): Made[] {
  return Array.from({ length: count }, (_, i) => make(i));
}

function nested(depth: number, keyword: string, width: number): Record<string, unknown> {
  return depth === 0 ? { type: "string" } : { [keyword]: repeat(width, () => nested(depth - 1, keyword, width)) };
}
