/** Long lists of trials, from a service with the permissions of its task. */
import { expect } from "@std/expect";
import { tableFromIPC } from "apache-arrow";
import { finishOptimization, submitOptimization } from "../support/optimizations.ts";
import { copyFolder } from "../support/copy_folder.ts";
import { prepare } from "../support/prepare.ts";
import { startProcess } from "../support/process.ts";

const SPACE = { fast: { min: 1, max: 11, step: 1 }, slow: { min: 30, max: 48, step: 1 } };
const TRIALS = 11 * 19;

Deno.test("a long list of trials is that of its pages, whatever its format, and by a metric it is sorted", async (t) => {
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  copyFolder(`${await prepare("folder/service")}/database`, `${folder}/database`);
  const service = await startProcess("serve", { DATA_DIR: folder });
  try {
    const user = service.client();
    await user.signUp();
    const id = await submitOptimization(user, { space: SPACE, end_date: "2024-01-08" });
    expect((await finishOptimization(user, id)).at("/optimization/trials/done")).toBe(TRIALS);
    const path = `/api/optimizations/${id}/trials`;
    const listPages = async (query: string) => {
      const listed: unknown[] = [];
      for (let cursor = "";;) {
        const page = await user.get(`${path}?limit=200${query}${cursor}`);
        listed.push(...page.list("/trials"));
        const next = page.at("/next_cursor");
        if (next === null) return listed.map(Object);
        cursor = `&cursor=${next}`;
      }
    };
    const trials = await listPages("");
    expect(trials.map(({ number }) => number)).toEqual(Array.from({ length: TRIALS }, (_, i) => i + 1));

    await t.step("JSON has the bytes of the pages' trials", async () => {
      const { text } = await user.get(path);
      // One line says enough where they differ.
      expect(text === JSON.stringify({ trials, next_cursor: null })).toBe(true);
    });
    await t.step("CSV has the lines of the pages", async () => {
      const lines: string[] = [];
      for (const cursor of await cursorsOf(user, path)) {
        const [head = "", ...rows] = (await user.get(`${path}?limit=200&format=csv${cursor}`)).text.trimEnd().split(
          "\n",
        );
        lines.push(...(lines.length === 0 ? [head] : []), ...rows);
      }
      expect((await user.get(`${path}?format=csv`)).text).toBe(`${lines.join("\n")}\n`);
    });
    await t.step("Arrow has their values", async () => {
      const answer = await fetch(`${service.url}${path}?format=arrow`, { headers: { cookie: user.cookie } });
      const rows = tableFromIPC(new Uint8Array(await answer.arrayBuffer())).toArray().map((row) => row.toJSON());
      const flat = trials.map((
        { number, parameters, metrics },
      ) => [number, parameters.fast, parameters.slow, metrics.sharpe]);
      expect(rows.map((row) => [row.number, row["parameters.fast"], row["parameters.slow"], row.sharpe])).toEqual(flat);
    });
    await t.step("pages and the whole list by a metric are sorted", async () => {
      const sorted = (await user.get(`${path}?sort=total_return`)).list("/trials").map(Object);
      expect(sorted).toEqual(
        trials.toSorted((a, b) => b.metrics.total_return - a.metrics.total_return || a.number - b.number),
      );
      expect(await listPages("&sort=total_return")).toEqual(sorted);
      expect((await listPages("&order=desc")).map(({ number }) => number)).toEqual(
        trials.map(({ number }) => number).reverse(),
      );
    });
  } finally {
    await service.end("SIGTERM");
    await Deno.remove(folder, { recursive: true });
  }
});

async function cursorsOf(user: Parameters<typeof submitOptimization>[0], path: string): Promise<string[]> {
  const cursors = [""];
  for (;;) {
    const next = (await user.get(`${path}?limit=200${cursors.at(-1)}`)).at("/next_cursor");
    if (next === null) return cursors;
    cursors.push(`&cursor=${next}`);
  }
}
