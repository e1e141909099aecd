import { configure, getJsonLinesFormatter, getLogger, getStreamSink, type LogRecord } from "@logtape/logtape";
import { DrizzleQueryError } from "drizzle-orm";
import { AsyncLocalStorage } from "node:async_hooks";
import { activeTrace } from "./tracing.ts";

export const LOG_LEVELS = ["trace", "debug", "info", "warning", "error"] as const;

// An error may be its own cause.
const CAUSES_MAX = 8;

/**
 * Writes log records to standard error, one JSON object a line.
 *
 * Records of a request or a job carry its ids (`withContext`) and the ids of its trace. Libraries' `console.error` becomes a record.
 *
 * @param level The lowest level that is written.
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
  console.error = logConsoleError;
}

/** Logs what a library writes to the console, without the values of a failed statement. */
function logConsoleError(...parts: unknown[]): void {
  const error = parts.find((each) => each instanceof Error) ?? String(parts[0]);
  getLogger(["hindcast", "console"]).error("A library says: {error}", { error });
}

function prepare(record: LogRecord): LogRecord {
  const properties = Object.entries(record.properties).map(([key, value]) => [
    key,
    value instanceof Error ? describeError(value) : value,
  ]);
  return {
    ...record,
    // One line in the message; the property has the stack.
    message: record.message.map((part) => part instanceof Error ? describeError(part).split("\n", 1)[0] : part),
    properties: { ...Object.fromEntries(properties), ...activeTrace() },
  };
}

/**
 * An error as text for the log: message and stack, and those of its causes.
 *
 * It leaves out the values of a failed statement, which can be a session's token, an e-mail or a password's hash, and every further
 * property of an error, where drivers keep such values.
 */
export function describeError(error: Error): string {
  const parts: string[] = [];
  let each: unknown = error;
  for (let depth = 0; depth < CAUSES_MAX && each instanceof Error; depth++, each = each.cause) {
    const { name, message, stack = "", cause } = each;
    // A wrapper that repeats the message of its cause repeats the values.
    if (cause instanceof Error && cause !== each && cause.message !== "" && message.includes(cause.message)) continue;
    const begin = stack.indexOf(message);
    const frames = message === "" || begin < 0 ? "" : stack.slice(begin + message.length);
    parts.push(`${name}: ${each instanceof DrizzleQueryError ? `Failed query: ${each.query}` : message}${frames}`);
  }
  return parts.join("\ncaused by ");
}
