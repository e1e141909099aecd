import { configure, getJsonLinesFormatter, getLogger, getStreamSink, type LogRecord } from "@logtape/logtape";
import { DrizzleQueryError } from "drizzle-orm";
import { AsyncLocalStorage } from "node:async_hooks";
import { activeTrace } from "./tracing.ts";

export const LOG_LEVELS = ["trace", "debug", "info", "warning", "error"] as const;

// Deep enough for any, and an end to one that is its own cause.
const CAUSES_MAX = 8;

/**
 * Sends log records, one JSON object a line, to standard error; standard output is for what a person asked to see.
 *
 * Records made on behalf of a request or a job carry its ids (`withContext`), and those of its trace. What libraries write to
 * `console.error` becomes a line, too.
 *
 * @param level The least important level that is written.
 */
export async function configureLog(level: (typeof LOG_LEVELS)[number]): Promise<void> {
  const format = getJsonLinesFormatter({ properties: "flatten", message: "rendered" });
  const lines = getStreamSink(Deno.stderr.writable, { formatter: (record) => format(prepare(record)) });
  await configure({
    reset: true,
    contextLocalStorage: new AsyncLocalStorage(),
    sinks: { lines },
    loggers: [
      { category: "hindcast", lowestLevel: level, sinks: ["lines"] },
      { category: ["logtape", "meta"], lowestLevel: "error", sinks: ["lines"] },
    ],
  });
  console.error = tellAsLine;
}

/** What a library writes to the console by itself: a failed statement would be told there with all its values. */
function tellAsLine(...said: unknown[]): void {
  const error = said.find((each) => each instanceof Error) ?? String(said[0]);
  getLogger(["hindcast", "console"]).error("A library says: {error}", { error });
}

function prepare(record: LogRecord): LogRecord {
  const properties = Object.entries(record.properties).map(([key, value]) => [
    key,
    value instanceof Error ? describeError(value) : value,
  ]);
  return {
    ...record,
    // One line says what happened; where is told by the property.
    message: record.message.map((part) => part instanceof Error ? describeError(part).split("\n", 1)[0] : part),
    properties: { ...Object.fromEntries(properties), ...activeTrace() },
  };
}

/**
 * An error as a line tells it: message and stack, and those of its causes.
 *
 * A failed statement is told without the values it was sent with, which can be a session's token, an e-mail or a password's hash; and
 * nothing is told of an error but this, since drivers hang such values on theirs.
 */
export function describeError(error: Error): string {
  const told: string[] = [];
  let each: unknown = error;
  for (let depth = 0; depth < CAUSES_MAX && each instanceof Error; depth++, each = each.cause) {
    const { name, message, stack = "", cause } = each;
    // Who only hands an error on repeats its message, values and all.
    if (cause instanceof Error && cause !== each && cause.message !== "" && message.includes(cause.message)) continue;
    const begin = stack.indexOf(message);
    const frames = message === "" || begin < 0 ? "" : stack.slice(begin + message.length);
    told.push(`${name}: ${each instanceof DrizzleQueryError ? `Failed query: ${each.query}` : message}${frames}`);
  }
  return told.join("\ncaused by ");
}
