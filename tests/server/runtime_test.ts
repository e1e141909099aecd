import { expect } from "@std/expect";
import { requireRuntime } from "../../server/runtime.ts";

Deno.test("a runtime on which the service fails is refused in one line, and a newer one is not", () => {
  for (const version of ["1.46.3", "2.5.0", "2.6.8", "2.7.13"]) {
    const said = `Cannot start: Deno must be 2.7.14 or newer, not ${version}: npm install -g deno@2.9.6`;
    expect(() => requireRuntime(version)).toThrow(said);
  }
  for (const version of ["2.7.14", "2.7.15", "2.8.0", "2.9.6", "2.10.0-rc.1", "3.0.0"]) requireRuntime(version);
  requireRuntime();
});
