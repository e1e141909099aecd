import { expect } from "@std/expect";
import { gzipSync } from "node:zlib";
import { guessSeries } from "../../cli/guess_series.ts";

Deno.test("the smallest distance of a file's first lines is its timeframe", async () => {
  const path = await Deno.makeTempFile({ suffix: ".csv" });
  const guess = async (...times: readonly string[]) => {
    await Deno.writeTextFile(path, `date,open,high,low,close\n${times.map((time) => `${time},1,1,1,1\n`).join("")}`);
    return await guessSeries(path).then(({ timeframe }) => timeframe, () => "none");
  };
  expect(await guess("2024-01-01 00:00", "2024-01-01 00:01")).toBe("1m");
  expect(await guess("2024-01-01 00:00", "2024-01-01 00:03")).toBe("3m");
  expect(await guess("2024-01-01 00:00", "2024-01-01 12:00", "2024-01-02 00:00")).toBe("12h");
  expect(await guess("2024-01-05", "2024-01-08", "2024-01-09")).toBe("1d");
  expect(await guess("2024-01-08", "2024-01-01")).toBe("1w");
  // Months by their first day, by their last, and by the first day of trade after a week of holidays.
  expect(await guess("2024-01-01", "2024-02-01", "2024-03-01")).toBe("1M");
  expect(await guess("2024-01-31", "2024-02-29", "2024-03-31")).toBe("1M");
  expect(await guess("2023-10-09", "2023-11-02", "2023-12-01")).toBe("1M");
  expect(await guess("2024-01-01", "2024-01-15")).toBe("none");
  await Deno.remove(path);
});

Deno.test("days of two weeks without a weekend are a stock's, packed or not", async () => {
  const path = await Deno.makeTempFile({ suffix: ".csv.gz" });
  const guess = async (length: number, weekend: number) => {
    const days = Array.from({ length }, (_, i) => new Date(Date.UTC(2024, 0, 1 + i)))
      .filter((date) => weekend === 7 || (date.getUTCDay() + 6) % 7 < weekend);
    const lines = days.map((date) => `${date.toISOString().slice(0, 10)};1;1;1;1`);
    await Deno.writeFile(path, gzipSync(["date;open;high;low;close", ...lines].join("\n")));
    return await guessSeries(path);
  };
  expect(await guess(14, 5)).toEqual({ timeframe: "1d", restsOnWeekends: true });
  expect(await guess(14, 7)).toEqual({ timeframe: "1d", restsOnWeekends: false });
  // From Monday to Friday nobody knows.
  expect(await guess(5, 5)).toEqual({ timeframe: "1d", restsOnWeekends: false });
  await Deno.remove(path);
});
