import { expect } from "@std/expect";
import { z } from "zod";
import { mustBe, validationFailed } from "../../../routers/common/errors.ts";

Deno.test("issues of a schema use the words of JSON and quote the refused value", () => {
  const cases: [schema: z.ZodType, value: unknown, message: string][] = [
    [z.string(), undefined, "is required"],
    [z.enum(["remote", "wasm"]), undefined, "is required"],
    [z.enum(["remote", "wasm"]), "docker", 'must be one of "remote", "wasm", not "docker"'],
    [z.enum(["remote", "wasm"]), "Wasn", 'must be one of "remote", "wasm", not "Wasn": did you mean wasm?'],
    [z.literal("object"), "array", 'must be "object", not "array"'],
    [z.int(), 1.5, "must be of type integer, not 1.5"],
    [z.record(z.string(), z.unknown()), [], "must be of type object, not []"],
    // JSON has 1e400, which is no number here.
    [z.number(), 1e400, "must be of type number, not Infinity"],
    [z.string().min(1), "", 'must be at least 1 character long, not ""'],
    [z.string().max(2), "abc", 'must be at most 2 characters long, not "abc"'],
    [z.array(z.string()).min(1), [], "must be at least 1 entry long, not []"],
    [z.string().regex(/^a$/, mustBe("an a")), "b", 'must be an a, not "b"'],
  ];
  for (const [schema, value, message] of cases) {
    const { error } = z.object({ key: schema }).safeParse({ key: value });
    expect(error === undefined ? [] : validationFailed(error).issues).toEqual([{ path: "/key", message }]);
  }
});

Deno.test("of thousands of keys that are not known a hundred are told", () => {
  const keys = Object.fromEntries(Array.from({ length: 5000 }, (_, key) => [`k${key}`, 1]));
  const { error } = z.strictObject({ inner: z.strictObject({}) }).safeParse({ inner: keys });
  const issues = error === undefined ? [] : validationFailed(error).issues;
  expect([issues.length, issues[99]]).toEqual([100, { path: "/inner/k99", message: "is not a known key" }]);
});

Deno.test("a key that is not known is refused with the nearest one that is", () => {
  const list = z.strictObject({
    status: z.string().optional(),
    symbol: z.string().optional(),
    sort: z.int().optional(),
  });
  const input = { symbl: 1, srot: 1, Status: 1, colour: 1, x: 1, ["y".repeat(100_000)]: 1 };
  const { error } = list.safeParse(input);
  const messages = error === undefined ? [] : validationFailed(error).issues.map(({ message }) => message);
  const unknown = "is not a known key; there are status, symbol, sort";
  const near = (name: string) => `is not a known key: did you mean ${name}? There are status, symbol, sort`;
  expect(messages).toEqual([near("symbol"), near("sort"), near("status"), unknown, unknown, unknown]);
});
