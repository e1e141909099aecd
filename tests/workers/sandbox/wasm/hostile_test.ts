/** Runs hostile modules in real processes: each ends with its expected outcome, alone, and leaves nothing behind. Prints figures. */
import { expect } from "@std/expect";
import type { CaseReport, Holdings } from "./hostile_host.ts";
import { HOSTILE } from "./hostile_modules.ts";

const HOST = new URL("./hostile_host.ts", import.meta.url).pathname;

Deno.test("hostile modules", async (t) => {
  const host = new Deno.Command(Deno.execPath(), { args: ["run", "--allow-all", HOST], stderr: "inherit" });
  const { code, stdout } = await host.output();
  expect(code).toBe(0);
  const [first = "", ...rest] = new TextDecoder().decode(stdout).trim().split("\n");
  const begin: { before: Holdings; alone: { ms: number } } = JSON.parse(first);
  const reports: CaseReport[] = rest.map((line) => JSON.parse(line));
  expect(reports.map(({ what }) => what)).toEqual(HOSTILE.map(({ what }) => what));
  print(`an honest run alone: ${begin.alone.ms} ms; ${describe(begin.before)}`);

  for (const [n, { run, validation, neighbour, left, what }] of reports.entries()) {
    const expected = HOSTILE[n]!;
    await t.step(`one that ${what} ends as ${expected.code}`, () => {
      print(
        `${what}: run ${run.code} in ${run.ms} ms, check ${validation.ms} ms, beside it ${neighbour.ms} ms; ${
          describe(left)
        }`,
      );
      expect(run.code).toBe(expected.code);
      expect(run.message).toMatch(expected.message);
      expect(run.logged).toBe(expected.logged ?? 0);

      const isAccepted = expected.isAccepted ?? expected.code === "completed";
      expect(validation.code).toBe(isAccepted ? "completed" : "INVALID_MODULE");
      if (!isAccepted) expect(validation.message).toMatch(/^Cannot use the module: /);

      expect(neighbour.sameBytes).toBe(true);
      expect(left.processes).toBe(0);
      expect(left.files).toBeLessThanOrEqual(begin.before.files);
    });
  }
});

function describe({ processes, files }: Holdings): string {
  return `${processes} processes, ${files} files`;
}

function print(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`  ${line}\n`));
}
