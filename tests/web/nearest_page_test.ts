import { expect } from "@std/expect";
import { nearestPage } from "../../web/src/parts/nearest_page.ts";

Deno.test("an unknown address leads to the page that it most likely means", () => {
  const hrefs = (...paths: string[]) => paths.map((path) => nearestPage(path).href);
  expect(hrefs("/nowhere", "/", "/runs/some/where", "/Runs", "/run")).toEqual(Array(5).fill("/runs"));
  expect(hrefs("/backtests/01A2", "/run/01a2")).toEqual(["/runs/01A2", "/runs/01a2"]);
  expect(hrefs("/startegies", "/strategies/nope", "/strategy/sma-cross")).toEqual([
    ...["/strategies", "/strategies", "/strategies/sma-cross"],
  ]);
  expect(hrefs("/optimization/7", "/login", "/singup", "/settings", "/market-data", "/data/X/Y", "/univers")).toEqual([
    ...["/optimizations/7", "/sign-in", "/sign-up", "/account", "/data", "/data", "/universes"],
  ]);
});
