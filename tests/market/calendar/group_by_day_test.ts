import { expect } from "@std/expect";
import { UTC_DAYS } from "../../../market/calendar/exchange_sessions.ts";
import { groupByDay, groupByDayOnce } from "../../../market/calendar/group_by_day.ts";
import { tradingDaysOf } from "../../../market/calendar/trading_days.ts";

const friday = Date.UTC(2024, 0, 5);
const saturday = Date.UTC(2024, 0, 6);
const monday = Date.UTC(2024, 0, 8);
const time = Float64Array.of(friday, friday + 1, saturday, monday);
const everyDay = tradingDaysOf(UTC_DAYS);
const weekdays = tradingDaysOf({ ...UTC_DAYS, weekdays: [1, 2, 3, 4, 5] });

Deno.test("candles are grouped by day, those of a weekend with the Monday", () => {
  const ends = (grouped: ReturnType<typeof groupByDay>) => [...grouped.ends];
  expect(ends(groupByDay(everyDay, time))).toEqual([2, 3, 4]);
  expect(ends(groupByDay(weekdays, time))).toEqual([2, 4]);
  expect([...groupByDay(weekdays, time).dates]).toEqual([friday, monday]);
});

Deno.test("the days of the same candles are grouped once, and anew for another calendar or other candles", () => {
  const once = groupByDayOnce(everyDay, time);
  expect(once).toEqual(groupByDay(everyDay, time));
  expect(groupByDayOnce(everyDay, time)).toBe(once);
  expect(groupByDayOnce(weekdays, time)).toEqual(groupByDay(weekdays, time));
  expect(groupByDayOnce(everyDay, time)).toEqual(once);
  expect([...groupByDayOnce(everyDay, time.slice(0, 2)).ends]).toEqual([2]);
});
