import { configure, getJsonLinesFormatter, getStreamSink, type LogRecord } from "@logtape/logtape";
import { DrizzleQueryError } from "drizzle-orm";
import { AsyncLocalStorage } from "node:async_hooks";
import { activeTrace } from "./telemetry.ts";

export const LOG_LEVELS = ["trace", "debug", "info", "warning", "error"] as const;

const CAUSES_MAX = 5;

/**
 * Sends log records, one JSON object a line, to standard error; standard output is for what a person asked to see.
 *
 * Records made on behalf of a request or a job carry its ids (`withContext`), and those of its trace.
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
}

function prepare(record: LogRecord): LogRecord {
  const properties = Object.entries(record.properties).map(([key, value]) => [key, describe(value)]);
  return {
    ...record,
    message: record.message.map(describe),
    properties: { ...Object.fromEntries(properties), ...activeTrace() },
  };
}

function describe(value: unknown): unknown {
  return value instanceof Error ? describeError(value) : value;
}

/**
 * An error as a line tells it: message and stack, and those of its causes.
 *
 * A failed statement is told without the values it was sent with, which can be a session's token, an e-mail or a password's hash; and
 * nothing is told of an error but this, since drivers hang such values on theirs.
 */
export function describeError(error: Error): string {
  const lines: string[] = [];
  let cause: unknown = error;
  while (cause instanceof Error && lines.length < CAUSES_MAX) {
    const { name, message, stack = "" } = cause;
    const told = cause instanceof DrizzleQueryError ? `Failed query: ${cause.query}` : message;
    const begin = stack.indexOf(message);
    const frames = message === "" || begin < 0 ? "" : stack.slice(begin + message.length);
    lines.push(`${name}: ${told}${frames}`);
    cause = cause.cause;
  }
  return lines.join("\ncaused by ");
}
