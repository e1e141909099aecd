/** The numbers of strategies/ABI.md are those of the host. */
import { expect } from "@std/expect";
import {
  ABI_VERSION,
  ACTION,
  DETAIL,
  DETAIL_BYTES,
  EXPORTED_FUNCTIONS,
  FILL,
  FILL_BYTES,
  FILLS_MAX,
  FLAG_HAS_CLOSED,
  FLAG_IS_MEMBER,
  FRAME,
  FRAME_BYTES,
  IMPORTED_FUNCTIONS,
  INPUT,
  INPUT_BYTES,
  LOG_LINES_MAX,
  MARKET,
  MARKET_BYTES,
  MARKETS,
  MESSAGE_BYTES_MAX,
  MODULE,
  ORDER,
  ORDER_BYTES,
  ORDERS_MAX,
  RUN_ORDERS_MAX,
  RUN_TAGS_MAX,
  TAG_BYTES_MAX,
  TRADE,
  TRADE_BYTES,
  TRADES_MAX,
  WARMUP_MAX,
  WORKING_MAX,
  ZONES_MAX,
} from "../../workers/sandbox/contracts/abi.ts";
import { PLOT_NAME_CHARS_MAX, PLOT_TIME, PLOT_VALUES_MAX, PLOTS_MAX } from "../../workers/sandbox/contracts/layout.ts";
import { EXIT_REASONS } from "../../engine/trade_columns.ts";
import { SIZES_BY } from "../../engine/strategy.ts";

const page = (await Deno.readTextFile(new URL("../../strategies/ABI.md", import.meta.url))).replaceAll(/\s+/g, " ");

// Names of the host that differ on the page.
const PAGE_NAMES: Readonly<Record<string, string>> = {
  size: "frame_size",
  parametersPointer: "parameters_ptr",
  parametersBytes: "parameters_len",
  columns: "time_ptr",
  inputsPointer: "inputs_ptr",
  ordersPointer: "orders_ptr",
  resultsPointer: "results_ptr",
  tradesPointer: "trades_ptr",
  workingPointer: "working_ptr",
  tagPointer: "tag_ptr",
  tagBytes: "tag_len",
  detailsPointer: "details_ptr",
  fillsPointer: "fills_ptr",
  idPointer: "id_ptr",
  idBytes: "id_len",
};
const MARKETS_NAMES: Readonly<Record<string, string>> = {
  inputTables: "input_tables_ptr",
  ...PAGE_NAMES,
  count: "markets_count",
  rows: "markets_ptr",
  orderMarkets: "order_markets_ptr",
  tradeMarkets: "trade_markets_ptr",
  workingMarkets: "working_markets_ptr",
  fillMarkets: "fill_markets_ptr",
};
const DOUBLES = [
  "cash",
  "equity",
  "now",
  "min_trade",
  "weight",
  "target_weight",
  "quantity",
  "entry_price",
  "initial_balance",
  "timeframe_ms",
  "size",
  "limit_price",
  "stop_price",
]
  .concat([
    "stop_loss",
    "take_profit",
    "stop_loss_fraction",
    "take_profit_fraction",
    "trail_distance",
    "trail_fraction",
  ])
  .concat(["entry_time", "trailing_stop", "best_price", "worst_price", "profit", "price", "fee", "fees", "time"]);

Deno.test("the frame's table has every field at its offset", () => {
  for (const [name, offset] of Object.entries(FRAME)) expectRow(offset, PAGE_NAMES[name] ?? toSnake(name));
  expect(page).toContain(`| ${FRAME_BYTES}; it was 136 before \`timeframe_ms\`, and grows`);
  expect(page).toContain(`(${FRAME_BYTES} bytes and the JSON's length)`);
});

Deno.test("the table of inputs has every field at its offset", () => {
  expect(page).toContain(`| 0 to ${INPUT.count - 4} | i32 | \`time_ptr\`, \`open_ptr\``);
  expectRow(INPUT.count, "count");
  expectRow(INPUT.columnsCapacity, "columns_capacity");
  expect(page).toContain(`A row of the table has ${INPUT_BYTES} bytes`);
});

Deno.test("the block of markets and its rows have every field at its offset", () => {
  for (const [name, offset] of Object.entries(MARKETS)) expectRow(offset, MARKETS_NAMES[name] ?? toSnake(name));
  for (const [name, offset] of Object.entries(MARKET)) {
    expectRow(offset, name === "target" ? "target_weight" : PAGE_NAMES[name] ?? toSnake(name));
  }
  expect(page).toContain(`A row of the table of markets has ${MARKET_BYTES} bytes`);
  expect(page).toContain(`| ${FLAG_HAS_CLOSED} a candle of it closed at this moment; ${FLAG_IS_MEMBER} it is a member`);
});

Deno.test("the order table's rows have every field at its offset", () => {
  for (const [name, offset] of Object.entries(ORDER)) {
    expectRow(offset, name === "size" ? name : PAGE_NAMES[name] ?? toSnake(name));
  }
  expect(page).toContain(`\`orders_max\` rows of ${ORDER_BYTES} bytes`);
});

Deno.test("the table of open trades has every field at its offset", () => {
  for (const [name, offset] of Object.entries(TRADE)) expectRow(offset, toSnake(name));
  expect(page).toContain(`\`trades_max\` rows of ${TRADE_BYTES} bytes`);
});

Deno.test("the tables of details and fills have every field at its offset", () => {
  for (const [name, offset] of Object.entries({ ...DETAIL }).filter(([name]) => name !== "tag")) {
    expectRow(offset, PAGE_NAMES[name] ?? toSnake(name));
  }
  for (const [name, offset] of Object.entries({ ...FILL }).filter(([name]) => name !== "tag")) {
    expectRow(offset, PAGE_NAMES[name] ?? toSnake(name));
  }
  for (const offset of [DETAIL.tag, FILL.tag]) expect(page).toContain(`| ${offset} | text | \`tag\` |`);
  expect(page).toContain(`\`trades_max\` rows of ${DETAIL_BYTES} bytes`);
  expect(page).toContain(`\`fills_max\` rows of ${FILL_BYTES} bytes`);
  const reasons = EXIT_REASONS.map((name, number) => `${number} ${name.replaceAll("_", " ")}`).join(", ");
  expect(page).toContain(`Reasons: ${reasons}.`);
});

Deno.test("actions and sizes have their numbers", () => {
  for (const [name, number] of Object.entries(ACTION)) {
    expect(page).toContain(`| ${number} | ${toSnake(name).replaceAll("_", " ")} |`);
  }
  expect(SIZES_BY).toEqual(["default", "units", "equity_fraction", "cash", "risk_fraction"]);
  expect(page).toMatch(
    /0 nothing, the run's own `sizing` decides .*; 1 units; 2 fraction of equity; 3 money; 4 fraction of equity lost/,
  );
});

Deno.test("exports and imports have their types", () => {
  for (const [name, { type, required }] of Object.entries(EXPORTED_FUNCTIONS)) {
    const row = new RegExp(`\\| \`${name}\` \\| \`([^\`]+)\` \\| ([^|]+)\\|`).exec(page);
    expect(withoutNames(row?.[1])).toBe(type);
    expect(row?.[2]?.includes("may be absent")).toBe(!required);
  }
  const imports = [...page.matchAll(/\| (?:`env\.(\w+)`)? *\| `(\([^`]+\) -> (?:\(\)|i32|f64))` \|/g)].map((row) =>
    withoutNames(row[2])
  );
  expect(imports).toEqual(Object.values(IMPORTED_FUNCTIONS).flat());
});

Deno.test("limits are those of the host", () => {
  const english = (value: number) => value.toLocaleString("en");
  expect(page).toContain(`| 0 | i32 | \`abi_version\` | A | ${ABI_VERSION} |`);
  expect(page).toContain(`default 1, 1 to ${english(WARMUP_MAX)}`);
  expect(page).toContain(`default ${ORDERS_MAX.default}, 1 to ${english(ORDERS_MAX.limit)}`);
  for (const { default: value, limit } of [TRADES_MAX, WORKING_MAX, FILLS_MAX]) {
    expect(page).toContain(`default ${value}, at most ${english(limit)}`);
  }
  expect(page).toContain(`| module | ${MODULE.bytesMax / 2 ** 20} MiB |`);
  expect(page).toContain(`| memory | ${MODULE.memoryPagesMax / 16} MiB.`);
  expect(page).toContain(`one, of at most ${english(MODULE.tableElementsMax)} elements`);
  const { functionsMax, typesMax, exportsMax, importsMax } = MODULE;
  expect([ZONES_MAX, PLOTS_MAX]).toEqual([16, 16]);
  expect(page).toContain("| time zones, plots | 16 each |");
  expect(page).toContain(`A name has 1 to ${PLOT_NAME_CHARS_MAX} characters and is not \`${PLOT_TIME}\``);
  expect(page).toContain(`keeps ${english(PLOT_VALUES_MAX)} values of all plots together`);
  const counts = [functionsMax, typesMax, exportsMax, importsMax].map(english).join(", ");
  expect(page).toContain(`| functions, types, exports, imports | ${counts} |`);
  expect(page).toContain(`| a name | ${MODULE.nameBytesMax} bytes |`);
  expect(page).toContain(`rows a candle, ${english(RUN_ORDERS_MAX)} a run`);
  expect(page).toContain(`| different tags | ${english(RUN_TAGS_MAX)} a run |`);
  expect(page).toContain(`${TAG_BYTES_MAX} bytes, ${english(MESSAGE_BYTES_MAX)} bytes, ${LOG_LINES_MAX} lines`);
});

function expectRow(offset: number, name: string): void {
  const type = DOUBLES.includes(name) ? "f64" : "i32";
  expect(page).toMatch(new RegExp(`\\| ${offset} \\| ${type} \\| \`${name}\` \\|`));
}

function toSnake(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** A type without the names of its parameters, as the check writes it. */
function withoutNames(type = ""): string {
  return type.replaceAll(/\w+: /g, "").replace("-> ()", "-> nothing");
}
