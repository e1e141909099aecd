/** docs/architecture.md names the rooms that there are. */
import { expect } from "@std/expect";
import { renderArchitecturePage } from "./import_rows.ts";
import { listFiles, readPage, rowsOf } from "../support/pages.ts";

const PAGE = await readPage("docs/architecture.md");
const FILES = await listFiles();

Deno.test("the tree has every folder of the repository and no other", () => {
  const folders = new Set(FILES.filter((path) => /^[a-z]+\//.test(path)).map((path) => path.split("/")[0]));
  const named = [...PAGE.matchAll(/^([a-z]+)\/ {2,}\S/gm)].map(([, name]) => name);
  expect(named.toSorted()).toEqual([...folders].toSorted());
});

Deno.test("every room that the page names exists", () => {
  const rooms = rowsOf(PAGE).map(([room = ""]) => room).filter((room) => room.endsWith("/`"))
    .map((room) => room.slice(1, -1));
  expect(rooms.length).toBeGreaterThan(5);
  expect(rooms.filter((room) => !FILES.some((path) => path.startsWith(room)))).toEqual([]);
});

Deno.test("the table of imports is the enforced one: deno task docs writes it", async () => {
  expect(PAGE).toBe(await renderArchitecturePage());
});
