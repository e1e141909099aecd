import { expect } from "@std/expect";
import { connectBrowser } from "./browser.ts";
import { listDescendants } from "./processes.ts";

// Bare machines lack them, and Chromium does not start without them.
const NEEDED = ["libexpat.so.1", "libnspr4.so", "libnss3.so"];

Deno.test("the browser of the tests loads the libraries of its package, whatever the system has", async () => {
  // Elsewhere it is an installed Chrome, and there is no /proc.
  const isOurs = Deno.build.target === "x86_64-unknown-linux-gnu";
  const browser = await connectBrowser();
  // The process that runs all tests has started it.
  const maps = listDescendants(Deno.ppid).map(({ pid }) => readMaps(pid)).filter((map) => /\/chromium$/m.test(map));
  const loaded = maps.flatMap((map) => [...new Set(map.match(/\/\S*lib(expat|nspr4|nss3)\.so\S*$/gm))]);
  await browser.close();
  expect(maps.length > 0).toBe(isOurs);
  // Each process of the browser has them from the unpacked folder.
  expect(loaded.map((path) => path.replace(/.*(?=\/al2023\/lib\/)/, "")).sort())
    .toEqual(NEEDED.flatMap((name) => maps.map(() => `/al2023/lib/${name}`)));
});

/** The files that a process has mapped; empty where it has ended. */
function readMaps(pid: number): string {
  try {
    return Deno.readTextFileSync(`/proc/${pid}/maps`);
  } catch {
    return "";
  }
}
