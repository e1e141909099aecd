import { expect } from "@std/expect";
import { FirstPlaces, type Place } from "../../../routers/optimizations/first_places.ts";
import { Random } from "../../../research/numbers/random_numbers.ts";

const CHUNKS = 5;
const CHUNK_ROWS = 40;

for (const isRising of [true, false]) {
  Deno.test(`pages of the first places are a list sorted by value, then by place, without a value last (rising: ${isRising})`, () => {
    const random = new Random(7);
    const chunks = Array.from({ length: CHUNKS }, (_, chunk) => ({
      first: chunk * CHUNK_ROWS,
      count: CHUNK_ROWS,
      columns: {
        place: Float64Array.from({ length: CHUNK_ROWS }, (_, row) => chunk * CHUNK_ROWS + row),
        // Few values, so that many are equal.
        sharpe: Float64Array.from({ length: CHUNK_ROWS }, () => [NaN, -1, 0, 2, 7][random.below(5)]!),
      },
    }));
    const all = chunks.flatMap(({ columns }) =>
      [...columns.place].map((place, row) => ({
        place,
        value: Number.isNaN(columns.sharpe[row]) ? null : columns.sharpe[row]!,
      }))
    );
    const byValue = Object.groupBy(all, ({ value }) => value === null ? "none" : "some");
    const some = (byValue.some ?? []).toSorted((a, b) =>
      (isRising ? a.value! - b.value! : b.value! - a.value!) || a.place - b.place
    );
    const expected = [...some, ...byValue.none ?? []];

    const listed: Place[] = [];
    for (;;) {
      const page = new FirstPlaces({ isRising, from: listed.at(-1), count: 17 });
      for (const chunk of chunks) page.add(chunk, "sharpe");
      const found = page.take();
      expect(found.map(({ first, place }) => place - first).every((row) => row >= 0 && row < CHUNK_ROWS)).toBe(true);
      listed.push(...found.map(({ value, place }) => ({ value, place })));
      if (found.length < 17) break;
    }
    expect(listed).toEqual(expected);
  });
}

Deno.test("a chunk from before a metric existed has no value of it", () => {
  const places = new FirstPlaces({ isRising: true, from: undefined, count: 2 });
  places.add({ first: 0, count: 2, columns: { place: Float64Array.of(0, 1) } }, "of a later version");
  expect(places.take()).toEqual([{ value: null, place: 0, first: 0 }, { value: null, place: 1, first: 0 }]);
});
