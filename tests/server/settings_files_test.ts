import { expect } from "@std/expect";
import { SETTINGS_FILES } from "../../server/settings_files.ts";
import { ROOT } from "../support/pages.ts";

Deno.test("the files that `deno task generate` writes are up to date", async () => {
  for (const [path, update] of Object.entries(SETTINGS_FILES)) {
    const text = await Deno.readTextFile(`${ROOT}${path}`);
    expect([path, update(text)]).toEqual([path, text]);
  }
});

Deno.test("a page without the table's place is refused in words", () => {
  expect(() => SETTINGS_FILES["docs/operating.md"]!("# A page\n")).toThrow(
    /Cannot find the table of settings: keep the line <!--/,
  );
});
