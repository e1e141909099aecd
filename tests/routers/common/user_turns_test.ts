import { expect } from "@std/expect";
import { UserTurns } from "../../../routers/common/user_turns.ts";

Deno.test("two long readings of a user go on at a time, in their order; another user's waits for none of them", async () => {
  const turns = new UserTurns();
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const read = (userId: string, name: string) =>
    turns.run(userId, async () => {
      begun.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
      if (name === "b") throw new Error("b failed");
      return name;
    });
  const [a, b, c, d] = ["a", "b", "c", "d"].map((name) => read("ann", name));
  const e = read("bob", "e");
  expect(begun).toEqual(["a", "b", "e"]);
  // A failure passes the turn on, too.
  ends.get("b")!();
  await expect(b).rejects.toThrow("b failed");
  expect(begun).toEqual(["a", "b", "e", "c"]);
  for (const name of ["a", "c"]) ends.get(name)!();
  expect(await Promise.all([a, c])).toEqual(["a", "c"]);
  expect(begun).toEqual(["a", "b", "e", "c", "d"]);
  for (const name of ["d", "e"]) ends.get(name)!();
  expect(await Promise.all([d, e])).toEqual(["d", "e"]);
});

Deno.test("a user's long readings beyond those that may wait are refused, and taken again once there is room", async () => {
  const turns = new UserTurns();
  const gate = Promise.withResolvers<void>();
  const readings = Array.from({ length: 2 + 64 }, () => turns.run("ann", () => gate.promise));
  await expect(turns.run("ann", () => gate.promise)).rejects.toMatchObject({
    appCode: "RATE_LIMITED",
    message: "Cannot read yet: 64 of your requests for charts, curves and lists wait; retry in 2 s",
    retryAfterSeconds: 2,
  });
  gate.resolve();
  await Promise.all(readings);
  expect(await turns.run("ann", () => Promise.resolve("read"))).toBe("read");
});
