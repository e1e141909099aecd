import { expect } from "@std/expect";
import { momentSchema } from "../../../routers/common/dates.ts";

Deno.test("a moment is a date, a time in UTC, or a number of any unit since 1970", () => {
  const time = Date.UTC(2024, 0, 31, 9, 30);
  const texts = ["2024-01-31T09:30:00Z", "1706693400", "1706693400000", "1706693400000000", "1706693400000000000"];
  for (const text of texts) expect([text, momentSchema.parse(text)]).toEqual([text, time]);
  expect(momentSchema.parse("2024-01-31")).toBe(Date.UTC(2024, 0, 31));
  for (const wrong of ["noon", "170669340", "17066934000", "-1706693400", "1706693400.5", "1e9", ""]) {
    expect(momentSchema.safeParse(wrong).error?.issues[0]?.message).toMatch(/^must be a date .* since 1970, not "/);
  }
});
