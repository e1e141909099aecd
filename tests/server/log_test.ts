import { expect } from "@std/expect";
import { DrizzleQueryError } from "drizzle-orm";
import { describeError } from "../../server/log.ts";

Deno.test("a failed statement is told without the values it was sent with, whoever hands it on", () => {
  const refusal = Object.assign(new Error("value is too long"), { detail: "Key (email)=(ada@example.com)" });
  const failed = new DrizzleQueryError("select $1", ["ada@example.com", "two\nlines"], refusal);
  const handedOn = new Error(failed.message, { cause: failed });
  const told = describeError(new Error("Cannot find the user", { cause: handedOn }));
  expect(told.replaceAll(/\n {4}at .*/g, "")).toBe(
    "Error: Cannot find the user\ncaused by Error: Failed query: select $1\ncaused by Error: value is too long",
  );
  expect(told).toMatch(/\n {4}at .*log_test\.ts/);
  expect(told).not.toMatch(/ada|two|lines/);
});

Deno.test("an error that causes itself has an end", () => {
  const error = new Error("round and round");
  error.cause = error;
  expect(describeError(error)).toMatch(/^Error: round and round\n/);
});
