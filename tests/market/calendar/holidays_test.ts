import { expect } from "@std/expect";
import { isForexHoliday, isNewYorkHoliday } from "../../../market/calendar/holidays.ts";

const DAY_MS = 86_400_000;

function holidaysOf(year: number): string[] {
  const found = [];
  for (let time = Date.UTC(year, 0, 1); time < Date.UTC(year + 1, 0, 1); time += DAY_MS) {
    if (isNewYorkHoliday(time / DAY_MS)) found.push(new Date(time).toISOString().slice(5, 10));
  }
  return found;
}

Deno.test("the New York exchanges are shut on the days that they published", () => {
  // 2021: Independence Day fell on a Sunday, Christmas on a Saturday.
  expect(holidaysOf(2021)).toEqual([
    "01-01",
    "01-18",
    "02-15",
    "04-02",
    "05-31",
    "07-05",
    "09-06",
    "11-25",
    "12-24",
  ]);
  // 2024: Juneteenth is one since 2022.
  expect(holidaysOf(2024)).toEqual([
    "01-01",
    "01-15",
    "02-19",
    "03-29",
    "05-27",
    "06-19",
    "07-04",
    "09-02",
    "11-28",
    "12-25",
  ]);
  // 2012: a storm in October; New Year's Day fell on a Sunday.
  expect(holidaysOf(2012)).toEqual([
    "01-02",
    "01-16",
    "02-20",
    "04-06",
    "05-28",
    "07-04",
    "09-03",
    "10-29",
    "10-30",
    "11-22",
    "12-25",
  ]);
});

Deno.test("currencies rest at Christmas and on New Year's Day", () => {
  const isHoliday = (date: string) => isForexHoliday(Date.parse(date) / DAY_MS);
  expect([isHoliday("2024-12-25"), isHoliday("2025-01-01"), isHoliday("2024-12-26")]).toEqual([true, true, false]);
});
