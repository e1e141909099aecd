import { expect } from "@std/expect";
import { FetchLimitError, FetchLimits } from "../../../market/on_demand/fetch_limits.ts";

Deno.test("fetches are counted by user and by network, a minute at a time", () => {
  let now = 90_000;
  const limits = new FetchLimits(() => now);
  const take = (caller: Parameters<FetchLimits["take"]>[0], times: number) => {
    for (let i = 0; i < times; i++) limits.take(caller);
  };
  take({ userId: "ann" }, 120);
  expect(() => limits.take({ userId: "ann" })).toThrow(new FetchLimitError(30, { userId: "ann" }));
  take({ userId: "ben" }, 1);
  take({ address: "2001:db8:0:1::/64" }, 30);
  expect(() => limits.take({ address: "2001:db8:0:1::/64" })).toThrow("retry in 30 s, or sign in");
  now += 30_000;
  take({ userId: "ann" }, 120);
});
