import { expect } from "@std/expect";
import { guessTimeframe } from "../../cli/csv_timeframe.ts";

Deno.test("the smallest distance of a file's first lines is its timeframe", async () => {
  const path = await Deno.makeTempFile({ suffix: ".csv" });
  const guess = async (...times: readonly string[]) => {
    await Deno.writeTextFile(path, `date,close\n${times.map((time) => `${time},1\n`).join("")}`);
    return await guessTimeframe(path).catch(() => "none");
  };
  expect(await guess("2024-01-01 00:00", "2024-01-01 00:01")).toBe("1m");
  expect(await guess("2024-01-05", "2024-01-08", "2024-01-09")).toBe("1d");
  expect(await guess("2024-01-08", "2024-01-01")).toBe("1w");
  // Months by their first day, by their last, and by the first day of trade after a week of holidays.
  expect(await guess("2024-01-01", "2024-02-01", "2024-03-01")).toBe("1M");
  expect(await guess("2024-01-31", "2024-02-29", "2024-03-31")).toBe("1M");
  expect(await guess("2023-10-09", "2023-11-02", "2023-12-01")).toBe("1M");
  expect(await guess("2024-01-01", "2024-01-15")).toBe("none");
  await Deno.remove(path);
});
