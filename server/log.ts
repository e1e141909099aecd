import { configure, getJsonLinesFormatter, getStreamSink } from "@logtape/logtape";

export const LOG_LEVELS = ["trace", "debug", "info", "warning", "error"] as const;

/**
 * Sends log records, one JSON object a line, to standard error; standard output is for what a person asked to see.
 *
 * @param level The least important level that is written.
 */
export async function configureLog(level: (typeof LOG_LEVELS)[number]): Promise<void> {
  const lines = getStreamSink(Deno.stderr.writable, {
    formatter: getJsonLinesFormatter({ properties: "flatten", message: "rendered" }),
  });
  await configure({
    reset: true,
    sinks: { lines },
    loggers: [
      { category: "hindcast", lowestLevel: level, sinks: ["lines"] },
      { category: ["logtape", "meta"], lowestLevel: "error", sinks: ["lines"] },
    ],
  });
}
