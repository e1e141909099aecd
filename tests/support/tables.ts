import { expect } from "@std/expect";
import { tableFromIPC } from "apache-arrow";
import type { TestClient } from "./client.ts";

/** The CSV and Arrow of a completed run hold the rows and columns of the JSON, whole and page by page. */
export async function requireTables(trader: TestClient, id: string): Promise<void> {
  for (const name of ["trades", "orders", "equity"]) {
    const path = `/api/backtests/${id}/${name}`;
    const rows = (await trader.get(path)).list(`/${name}`).map(Object);
    const columns = Object.keys(rows[0]);
    const csv = [columns, ...rows.map((row) => columns.map((column) => String(row[column] ?? "")))]
      .map((cells) => cells.join(",") + "\n");
    const whole = await trader.get(path, { accept: "text/csv" });
    expect([whole.headers.get("content-type"), whole.text]).toEqual(["text/csv; charset=utf-8", csv.join("")]);
    expect(whole.headers.get("x-next-cursor")).toBe(null);

    const arrow = await fetch(`${trader.url}${path}?format=arrow`, { headers: { cookie: trader.cookie } });
    expect(arrow.headers.get("content-type")).toBe("application/vnd.apache.arrow.stream");
    const table = tableFromIPC(new Uint8Array(await arrow.arrayBuffer()));
    expect(table.schema.fields.map((field) => field.name)).toEqual(columns);
    const isTime = (column: string) => /time/.test(column);
    const read = table.toArray().map((row) =>
      Object.fromEntries(columns.map((column) => {
        const value = row[column];
        return [column, isTime(column) && value !== null ? new Date(Number(value)).toISOString() : value];
      }))
    );
    expect(read).toEqual(rows);

    let [text, cursor, pages] = ["", "", 0];
    for (let next: string | null = ""; next !== null; pages++) {
      cursor = next === "" ? "" : `&cursor=${next}`;
      const page = await trader.get(`${path}?format=csv&limit=1${cursor}`);
      text += page.text.slice(csv[0]!.length);
      next = page.headers.get("x-next-cursor");
    }
    expect([pages, text]).toEqual([rows.length, csv.slice(1).join("")]);
  }
  const page = await trader.get(`/api/backtests/${id}/equity?limit=4`);
  expect([page.list("/equity").length, typeof page.at("/next_cursor")]).toEqual([4, "string"]);
  for (const query of ["points=4&limit=4", "limit=10001", "limit=1&cursor=x"]) {
    expect([query, (await trader.get(`/api/backtests/${id}/equity?${query}`)).status]).toEqual([query, 400]);
  }
  const unknown = await trader.get(`/api/backtests/${id}/trades?format=xls`);
  expect([unknown.status, unknown.at("/error/issues/0/path")]).toEqual([400, "/format"]);
}
