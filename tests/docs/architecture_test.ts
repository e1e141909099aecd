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

Deno.test("every file on the way of a backtest exists", () => {
  const [, way = ""] = /^File by file(.*?)^## /ms.exec(PAGE) ?? [];
  const named = [...way.matchAll(/`(\S+\.ts)`/g)].map(([, path = ""]) => path);
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((path) => !FILES.includes(path))).toEqual([]);
  expect(named.length).toBe(new Set(named).size);
});

Deno.test("the files that an addition touches exist, and are as many as CONTRIBUTING.md says", async () => {
  const [, table = ""] = /^\| You add (.*?)^\n/ms.exec(await readPage("CONTRIBUTING.md")) ?? [];
  const rows = table.split("\n").slice(2).filter((row) => row.startsWith("|"));
  expect(rows.length).toBeGreaterThan(8);
  for (const row of rows) {
    const [added = "", files = "", places = ""] = row.split("|").slice(1).map((cell) => cell.trim());
    const named = [...files.matchAll(/`([\w./]+(?:\/|\.(?:ts|py|md|json)))`/g)].map(([, path = ""]) => path);
    expect([added, new Set(named).size]).toEqual([added, Number(places)]);
    // NAME stands for that of the addition.
    const missing = named.filter((path) => {
      const [before = "", after] = path.split("NAME");
      return !FILES.some((file) => file.startsWith(before) && (after === undefined || file.endsWith(after)));
    });
    expect([added, missing]).toEqual([added, []]);
  }
});

Deno.test("the table of imports is the enforced one: deno task docs writes it", async () => {
  expect(PAGE).toBe(await renderArchitecturePage());
});
