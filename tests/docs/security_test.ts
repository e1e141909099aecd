/** The tables of permissions and secrets in docs/security.md agree with the code. */
import { expect } from "@std/expect";
import manifest from "../../deno.json" with { type: "json" };
import { denoArguments } from "../../cli/commands.ts";
import { CORRELATED_MAX, SAMPLES_MAX } from "../../engine/portfolio/portfolio.ts";
import { CURVE_POINTS_MAX } from "../../research/monte_carlo/curve.ts";
import { SETTINGS, VARIABLES } from "../../server/config.ts";
import { EVENT_LIMITS } from "../../server/answers/stream_limits.ts";
import { UNREAD_LIMITS } from "../../server/answers/unread_events.ts";
import { RESULT_BYTES_MAX, TRIAL_BYTES_MAX } from "../../workers/rows/rows_task.ts";
import {
  AnswerMeter,
  BODY_BYTES_MAX,
  ERRORS_CHARS_MAX,
  SMALL_BYTES_MAX,
  TALK,
} from "../../workers/sandbox/answer_bounds.ts";
import { METRICS_MAX, NOTES_MAX, SENTENCE_CHARS_MAX } from "../../workers/sandbox/answer_check.ts";
import {
  LINE_CHARS_MAX,
  LOG_BYTES_MAX,
  LOG_LINES_MAX,
  STACK_CHARS_MAX,
  STACK_LINES_MAX,
} from "../../workers/sandbox/contracts/log_bounds.ts";
import { FAILURE_CHARS_MAX, LAYOUT, REQUESTS_CHARS_MAX } from "../../workers/sandbox/contracts/layout.ts";
import * as ABI from "../../workers/sandbox/contracts/abi.ts";
import { readPage, rowsOf } from "../support/pages.ts";
import { SUITES } from "../support/run_suite.ts";

const PAGE = await readPage("docs/security.md");

Deno.test("the list of permissions is what the commands run with", () => {
  const commands = ["start", "worker", "admin", "demo", "strategy", "hindcast"] as const;
  const given = commands.flatMap((command) => {
    // The rest says where packages come from.
    const flags = denoArguments(command, "$DATA").filter((part) => /^--(allow|deny|ignore|no-prompt)/.test(part));
    return flags.map((flag) => `${command} ${flag.replace(VARIABLES.join(","), "VARIABLES")}`);
  });
  const code = "db/migrations,db/codec,engine,research,strategies,workers";
  const rows = [...PAGE.matchAll(/^\| `(--[a-z]+-[^`]+)` +\| ([a-z, ]+?) +\|/gm)];
  const listed = rows.flatMap(([, flag = "", names = ""]) =>
    names.split(", ").map((command) => {
      // Only those that start sandboxes look for a program.
      const own = command === "admin" ? "VARIABLES" : "PATH,VARIABLES";
      return `${command} ${flag.replace("CODE", code).replace("CONSOLE", "web/dist").replace("VARIABLES", own)}`;
    })
  );
  expect(listed.toSorted()).toEqual(given.toSorted());
});

Deno.test("the table of secrets has each setting that is one", () => {
  const [, section = ""] = /^## Secrets\n(.*?)^## /ms.exec(PAGE) ?? [];
  const listed = rowsOf(section).flatMap(([name = ""]) => /^`([A-Z][A-Z0-9_]+)`$/.exec(name)?.slice(1) ?? []);
  const secret = SETTINGS.filter(({ isSecret }) => isSecret).map(({ variable }) => variable);
  expect(listed.toSorted()).toEqual(secret.toSorted());
});

Deno.test("what one client may cost is what the code allows", () => {
  const [, section = ""] = /^## What one client may cost\n(.*?)^## /ms.exec(PAGE) ?? [];
  const text = section.replaceAll(/\s+/g, " ");
  const mib = (bytes: number) => `${bytes / 2 ** 20} MiB`;
  for (
    const fact of [
      `a user (${EVENT_LIMITS.userMax} event streams)`,
      `more than ${mib(UNREAD_LIMITS.addressBytesMax)} of long events`,
      `or ${mib(UNREAD_LIMITS.bytesMax)} in all`,
      `up to ${mib(TRIAL_BYTES_MAX + RESULT_BYTES_MAX)} of decoded chunks`,
    ]
  ) expect(text).toContain(fact);
});

Deno.test("the bounds of what comes out of a sandbox are the code's", () => {
  const [, section = ""] = /^## What may come out of a sandbox\n(.*?)^## /ms.exec(PAGE) ?? [];
  const rows = section.split("\n").filter((line) => line.startsWith("|"));
  const listed = rows.map((row) => [...row.matchAll(/\d[\d,]*/g)].map(([text]) => Number(text.replaceAll(",", ""))))
    .filter((numbers) => numbers.length > 0);
  const [none, one] = [boundsOfOrders(0), boundsOfOrders(1)];
  expect(listed).toEqual([
    [LOG_LINES_MAX, ABI.LOG_LINES_MAX, STACK_LINES_MAX, LINE_CHARS_MAX, LOG_BYTES_MAX, STACK_CHARS_MAX],
    [LAYOUT.plotsMax, LAYOUT.plotNameCharsMax, LAYOUT.plotValuesMax],
    [ABI.ORDERS_MAX.limit, ABI.RUN_ORDERS_MAX],
    [ABI.RUN_TAGS_MAX, ABI.TAG_BYTES_MAX],
    [LAYOUT.columnsMax, REQUESTS_CHARS_MAX],
    [FAILURE_CHARS_MAX, SENTENCE_CHARS_MAX],
    [SAMPLES_MAX, CORRELATED_MAX],
    [METRICS_MAX, LAYOUT.plotNameCharsMax, SENTENCE_CHARS_MAX],
    [NOTES_MAX, SENTENCE_CHARS_MAX],
    [SMALL_BYTES_MAX, CURVE_POINTS_MAX + 1],
    [TALK.messages, TALK.messagesPerSecond, TALK.bytes, TALK.bytesPerSecond],
    [BODY_BYTES_MAX],
    [none.valuesMax, one.valuesMax - none.valuesMax, none.textRowsMax, one.textRowsMax - none.textRowsMax],
    [TALK.bytes, ERRORS_CHARS_MAX],
  ]);
});

function boundsOfOrders(ordersMax: number) {
  const bounds = { headBytesMax: 1, bodyBytesMax: 1, ordersMax, resultsMax: 0, candlesMax: 0 };
  return new AnswerMeter(bounds).admit(0, 0);
}

Deno.test("the task that runs what attackers tried names files that are there", async () => {
  const [name = ""] = manifest.tasks.hostile.command.split(" ").slice(-1);
  const files = SUITES[name]?.flatMap((step) => step === "packages" ? [] : step) ?? [];
  expect(files.length).toBeGreaterThan(5);
  for (const file of files) expect((await Deno.stat(file)).isFile).toBe(true);
});
