import { expect } from "@std/expect";
import { findCronFault } from "../../../market/ingestion/schedule.ts";

Deno.test("five fields of cron are a schedule", () => {
  for (
    const text of [
      "* * * * *",
      "5 0 * * *",
      "*/15 8-17 * * 1-5",
      "0,30 0 1 1,7 0",
      "0 0 31 12 7",
      "1-59/2 * * * *",
      "0 0 29 2 *",
    ]
  ) {
    expect([text, findCronFault(text)]).toEqual([text, null]);
  }
});

Deno.test("any other text is refused with its fault", () => {
  const cases = {
    "": "must have five fields: minute, hour, day, month, weekday",
    "* * * *": "must have five fields: minute, hour, day, month, weekday",
    "* * * * * *": "must have five fields: minute, hour, day, month, weekday",
    "60 * * * *": 'has "60" as minute: use 0 to 59',
    "* 24 * * *": 'has "24" as hour: use 0 to 23',
    "* * 0 * *": 'has "0" as day of the month: use 1 to 31',
    "* * * 13 *": 'has "13" as month: use 1 to 12',
    "* * * * 8": 'has "8" as day of the week: use 0 to 7',
    "5-1 * * * *": "has a range that runs backwards as minute: 5-1",
    "*/0 * * * *": "has a step of 0 as minute: */0",
    "@daily * * * *": 'has "@daily" as minute',
    "1, * * * *": 'has "" as minute',
    // These two the queue would refuse when they are stored already.
    "0,0-5 * * * *": "is no schedule: CronMinute Validation error, duplicate values found: 0",
    "0 0 31 2,4 *": "is no schedule: Invalid explicit day of month definition",
  };
  expect(Object.fromEntries(Object.keys(cases).map((text) => [text, findCronFault(text)]))).toEqual(cases);
});
