import { CronExpressionParser } from "cron-parser";

const FIELDS = [
  { name: "minute", least: 0, most: 59 },
  { name: "hour", least: 0, most: 23 },
  { name: "day of the month", least: 1, most: 31 },
  { name: "month", least: 1, most: 12 },
  { name: "day of the week", least: 0, most: 7 },
] as const;

/**
 * The fault of a schedule in words, or null for a valid one: five fields of cron (minute, hour, day, month, weekday), each `*`, a number,
 * a range `a-b` or a list of those with commas, and a step `/n` after any of them.
 *
 * @see npm:cron-parser, with which pg-boss reads schedules: one schedule that it refuses would stop all the others.
 */
export function findCronFault(text: string): string | null {
  const parts = text.split(" ");
  if (parts.length !== FIELDS.length) return "must have five fields: minute, hour, day, month, weekday";
  for (const [index, { name, least, most }] of FIELDS.entries()) {
    for (const item of parts[index]!.split(",")) {
      const found = /^(?:\*|(\d{1,2})(?:-(\d{1,2}))?)(?:\/(\d{1,2}))?$/.exec(item);
      if (found === null) return `has ${JSON.stringify(item)} as ${name}`;
      const [, first, last = first, step] = found;
      const isInside = first === undefined || (Number(first) >= least && Number(last) <= most);
      if (!isInside) return `has ${JSON.stringify(item)} as ${name}: use ${least} to ${most}`;
      if (Number(last ?? 0) < Number(first ?? 0)) return `has a range that runs backwards as ${name}: ${item}`;
      if (step !== undefined && Number(step) === 0) return `has a step of 0 as ${name}: ${item}`;
    }
  }
  return findRefusal(text);
}

/** The reason why cron-parser refuses a schedule: a value twice in a list, or a day that none of the months has. */
function findRefusal(text: string): string | null {
  try {
    CronExpressionParser.parse(text, { tz: "UTC" });
    return null;
  } catch (error) {
    return `is no schedule: ${error instanceof Error ? error.message : String(error)}`;
  }
}
