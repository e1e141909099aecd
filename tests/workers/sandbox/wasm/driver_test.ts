import { expect } from "@std/expect";
import { DRIVER_BYTES } from "../../../../workers/sandbox/wasm/driver_bytes.ts";
import { DRIVER_TEXT } from "../../../../workers/sandbox/wasm/driver_text.ts";
import { compileWat } from "./modules.ts";

Deno.test("the driver's bytes are its text, compiled: a failure shows the bytes to put there", () => {
  expect(DRIVER_BYTES).toBe(compileWat(DRIVER_TEXT).toBase64());
});
