import { CronExpressionParser } from "cron-parser";

const FIELDS = [
  { name: "minute", least: 0, most: 59 },
  { name: "hour", least: 0, most: 23 },
  { name: "day of the month", least: 1, most: 31 },
  { name: "month", least: 1, most: 12 },
  { name: "day of the week", least: 0, most: 7 },
] as const;

/**
 * What keeps a text from being a schedule, in words, or null when it is one: five fields of cron (minute, hour, day, month, weekday), each
 * `*`, a number, a range `a-b`, a list of those with commas, and a step `/n` behind any.
 *
 * @see npm:cron-parser, by which pg-boss reads schedules: it has the last word, since one that it refuses would keep all others from theirs.
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
      if (!isInside) return `has ${JSON.stringify(item)} as ${name}, which goes from ${least} to ${most}`;
      if (Number(last ?? 0) < Number(first ?? 0)) return `has a range that runs backwards as ${name}: ${item}`;
      if (step !== undefined && Number(step) === 0) return `has a step of 0 as ${name}: ${item}`;
    }
  }
  return findRefusal(text);
}

/** What lists that name something twice, and days that none of the months has, are refused for. */
function findRefusal(text: string): string | null {
  try {
    CronExpressionParser.parse(text, { tz: "UTC" });
    return null;
  } catch (error) {
    return `is no schedule: ${error instanceof Error ? error.message : String(error)}`;
  }
}
