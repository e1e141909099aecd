import { expect } from "@std/expect";
import { tableFromIPC } from "apache-arrow";
import { eq, sql } from "drizzle-orm";
import { openPostgres } from "../../db/client.ts";
import { candleChunks } from "../../db/schema.ts";
import type { Answer, TestClient } from "../support/client.ts";
import { type Handler, withProvider } from "../support/provider.ts";
import { INGESTION_SECRET, startTestService } from "../support/service.ts";

const HOUR = 3_600_000;
const TICKS = "/api/market-data/ticks";
const secret = { "x-ingestion-admin-secret": INGESTION_SECRET };

/** The moods of the exchange: it may be down, or give another price than before. */
const state = { isDown: false, close: "1.5" };

/** An exchange with hourly candles of one price, which does not know NOPE and DEMOO, limits BUSY and is broken for BROKEN and DEMOX. */
const exchange: Handler = (url) => {
  if (state.isDown) return new Response("", { status: 503 });
  const get = (name: string) => url.searchParams.get(name) ?? "";
  if (["NOPE", "DEMOO"].includes(get("symbol"))) {
    return Response.json({ code: -1121, msg: "Invalid symbol." }, { status: 400 });
  }
  if (get("symbol") === "BUSY") return Response.json({}, { status: 429, headers: { "retry-after": "30" } });
  if (["BROKEN", "DEMOX"].includes(get("symbol"))) return new Response("", { status: 500 });
  const rows = [];
  for (let time = Number(get("startTime")); time <= Number(get("endTime")) && rows.length < 1000; time += HOUR) {
    rows.push([time, "1", "2", "0.5", state.close, "10", time + HOUR - 1, "0", 1, "0", "0", "0"]);
  }
  return Response.json(rows);
};

Deno.test("candles over HTTP", async (t) => {
  await withProvider(exchange, async (baseUrl, asked) => {
    const service = await startTestService("PostgreSQL", { BINANCE_BASE_URL: baseUrl });
    const client = service.client();
    await t.step("the sample's answer is complete, tagged and cacheable", () => readSample(client));
    await t.step("the same candles come as JSON, CSV and Arrow, whole or in pages", () => readFormats(client));
    await t.step("missing candles are fetched from the provider, once", () => readThrough(client, asked));
    await t.step("a damaged chunk is not served but fetched again", () => repairDamage(client, service.databaseUrl));
    await t.step("an answer that cannot be whole breaks off", () => breakOff(client, service.databaseUrl));
    await t.step("an operator adds an instrument, backfills it and watches", () => operate(client));
    // Last, since a provider that limits is left alone for as long as it says.
    await t.step("the provider's refusals are the answer's", () => surfaceRefusals(client, asked));
    await service.close();
  });
});

async function readSample(client: TestClient) {
  const path = `${TICKS}?symbol=DEMO&startDate=2024-02-28&endDate=2024-03-02&timeframe=1d`;
  const answer = await client.get(path);
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "application/json"]);
  expect(["symbol", "timeframe", "assetClass", "provider"].map((key) => answer.at(`/${key}`))).toEqual([
    "DEMO",
    "1d",
    "crypto",
    "sample",
  ]);
  // A leap year, and the range is half-open.
  expect(answer.list("/ticks").map((_, i) => answer.at(`/ticks/${i}/timestamp`))).toEqual([
    "2024-02-28T00:00:00.000Z",
    "2024-02-29T00:00:00.000Z",
    "2024-03-01T00:00:00.000Z",
  ]);
  expect(answer.at("/next_cursor")).toBeUndefined();
  const tag = answer.headers.get("etag")!;
  expect(answer.headers.get("cache-control")).toBe("public, max-age=60");
  const again = await client.get(path, { "if-none-match": tag });
  expect([again.status, again.text]).toEqual([304, ""]);
  const head = await client.send("HEAD", path);
  expect([head.status, head.text, head.headers.get("etag")]).toEqual([200, "", tag]);
}

async function readFormats(client: TestClient) {
  const path = `${TICKS}?symbol=DEMO&startDate=2024-01-01&endDate=2024-02-01`;
  const json = await client.get(path);
  const csv = await client.get(`${path}&format=csv`);
  const lines = csv.text.trimEnd().split("\n");
  expect(json.list("/ticks").length).toBe(44_640);
  expect(lines.length).toBe(44_641);
  for (const [timeframe, length] of [["3m", 3], ["2h", 120], ["6h", 360], ["12h", 720]] as const) {
    const made = await client.get(`${path.replace("02-01", "01-02")}&timeframe=${timeframe}`);
    expect(made.list("/ticks").length).toBe(1440 / length);
    const minutes = lines.slice(1441 - length, 1441).map((line) => line.split(","));
    const column = (n: number) => minutes.map((minute) => Number(minute[n]));
    expect(made.list("/ticks").at(-1)).toEqual({
      timestamp: minutes[0]![0],
      open: column(1)[0],
      high: Math.max(...column(2)),
      low: Math.min(...column(3)),
      close: column(4).at(-1),
      volume: column(5).reduce((sum, volume) => sum + volume, 0),
    });
  }
  const last = (key: string) => String(json.at(`/ticks/44639/${key}`));
  const keys = ["timestamp", "open", "high", "low", "close", "volume"];
  expect(lines.at(-1)).toBe(keys.map(last).join(","));
  const response = await fetch(`${client.url}${path}`, { headers: { accept: "application/vnd.apache.arrow.stream" } });
  const table = tableFromIPC(new Uint8Array(await response.arrayBuffer()));
  expect(String(table.getChild("close")!.get(44_639))).toBe(last("close"));
  const page = await client.get(`${path}&limit=10&format=csv`);
  const next = await client.get(`${path}&limit=1&cursor=${page.headers.get("x-next-cursor")}`);
  expect(next.at("/ticks/0/timestamp")).toBe("2024-01-01T00:10:00.000Z");
  expect(next.at("/next_cursor")).not.toBeNull();
}

async function readThrough(client: TestClient, asked: string[]) {
  const path = `${TICKS}?symbol=BTC/USDT&startDate=2024-01-01&endDate=2024-01-03&timeframe=1h`;
  // Without an asset class the feeds are asked in turn; none knows NOPE.
  const nowhere = await client.get(path.replace(/symbol=[^&]+/, "symbol=NOPE"));
  expect([nowhere.status, nowhere.at("/error/code")]).toEqual([404, "SYMBOL_NOT_FOUND"]);
  asked.length = 0;
  const answers = await Promise.all([1, 2, 3].map(() => client.get(`${path}&assetClass=crypto`)));
  expect(answers.map((answer) => [answer.status, answer.list("/ticks").length])).toEqual(Array(3).fill([200, 48]));
  expect(answers[0]!.at("/provider")).toBe("provider_a");
  expect(asked.length).toBe(1);
  // Known by now, so the class is, too.
  expect((await client.get(path)).list("/ticks").length).toBe(48);
  expect(asked.length).toBe(1);
}

const HOURS = `${TICKS}?symbol=BTC/USDT&startDate=2024-01-01&endDate=2024-01-03&timeframe=1h`;

/** Changes a byte of each stored chunk of hours. */
async function damageHours(databaseUrl: string) {
  const handle = await openPostgres(databaseUrl, 1);
  const { data, timeframe } = candleChunks;
  await handle.db.update(candleChunks).set({ data: sql`set_byte(${data}, 60, 255 - get_byte(${data}, 60))` })
    .where(eq(timeframe, "1h"));
  await handle.close();
}

async function repairDamage(client: TestClient, databaseUrl: string) {
  const page = await client.get(`${HOURS}&limit=48`);
  await damageHours(databaseUrl);
  expect((await client.get(`${HOURS}&limit=48`)).text).toBe(page.text);
  // An answer that is on its way already goes on with what the provider gives again. (JSON would come from memory.)
  const csv = await client.get(`${HOURS}&limit=48&format=csv`);
  await damageHours(databaseUrl);
  expect((await client.get(`${HOURS}&format=csv`)).text).toBe(csv.text);
  const days = await client.get(`${HOURS.replace("=1h", "=1d")}&limit=2`);
  await damageHours(databaseUrl);
  expect((await client.get(HOURS.replace("=1h", "=1d"))).list("/ticks")).toEqual(days.list("/ticks"));
  const events = await client.get("/api/admin/ingestion/events?type=failed", secret);
  expect(events.list("/events").length).toBe(3);
  expect(events.at("/events/0/message")).toContain("Cannot trust the stored 1h candles of 2024-01-01");
}

async function breakOff(client: TestClient, databaseUrl: string) {
  const arrow = `${HOURS}&format=arrow`;
  await damageHours(databaseUrl);
  state.isDown = true;
  // Nothing silently short: the connection ends without the end of the body.
  await expect(client.get(arrow)).rejects.toThrow();
  state.isDown = false;
  expect((await client.get(`${HOURS}&limit=48`)).list("/ticks").length).toBe(48);
  // Candles other than those that the answer's tag stands for are not mixed into it; the next answer has them.
  await damageHours(databaseUrl);
  state.close = "1.75";
  await expect(client.get(arrow)).rejects.toThrow();
  const revised = await client.get(HOURS);
  expect([revised.list("/ticks").length, revised.at("/ticks/47/close")]).toEqual([48, 1.75]);
  // A page is begun anew instead, since nothing of it has left yet.
  await damageHours(databaseUrl);
  state.close = "1.25";
  expect((await client.get(`${HOURS}&limit=10`)).at("/ticks/0/close")).toBe(1.25);
}

async function surfaceRefusals(client: TestClient, asked: string[]) {
  const get = (query: string) => client.get(`${TICKS}?startDate=2024-01-01&endDate=2024-01-02&timeframe=1h&${query}`);
  const said = (answer: Answer) => [answer.status, answer.at("/error/code")];
  expect(said(await get("symbol=NOPE&assetClass=crypto"))).toEqual([404, "SYMBOL_NOT_FOUND"]);
  expect(said(await get("symbol=BROKEN&assetClass=crypto"))).toEqual([502, "PROVIDER_FAILED"]);
  for (const [symbol, code] of [["DEMOO", "SYMBOL_NOT_FOUND"], ["DEMOX", "PROVIDER_FAILED"]] as const) {
    const near = await get(`symbol=${symbol}`);
    const hint = expect.stringMatching(new RegExp(`Binance.*no market is held as ${symbol}: did you mean DEMO\\?$`));
    expect([near.at("/error/code"), near.at("/error/message")]).toEqual([code, hint]);
  }
  expect(said(await get("symbol=AAPL&assetClass=stock"))).toEqual([404, "SYMBOL_NOT_FOUND"]);
  expect((await get("symbol=AAPL&assetClass=stock&provider=provider_b")).at("/error/message")).toContain(
    "MASSIVE_API_KEY",
  );
  expect(said(await get("symbol=AAPL&assetClass=bonds"))).toEqual([400, "VALIDATION_FAILED"]);
  expect(said(await get("symbol=AAPL&provider=provider_c"))).toEqual([400, "VALIDATION_FAILED"]);
  expect((await get("symbol=NOPE&assetClass=crypto&colour=red")).headers.get("x-ignored-query")).toBe("colour");
  const busy = await get("symbol=BUSY&assetClass=crypto");
  expect(said(busy)).toEqual([429, "PROVIDER_RATE_LIMITED"]);
  expect(busy.headers.get("retry-after")).toBe("30");
  // Until then others are told so without the provider being asked.
  const before = asked.length;
  const early = await get("symbol=LTCUSDT&assetClass=crypto");
  expect([...said(early), Number(early.headers.get("retry-after")) > 0]).toEqual([429, "PROVIDER_RATE_LIMITED", true]);
  expect(asked.length).toBe(before);
}

async function operate(client: TestClient) {
  const path = "/api/admin/ingestion";
  const instrument = {
    symbol: "ETHUSDT",
    exchange: "BINANCE",
    assetClass: "crypto",
    provider: "provider_a",
    timeframe: "1h",
    backfill_from: "2024-12-01",
    schedule: "5 * * * *",
  };
  const added = await client.send("POST", `${path}/instruments`, { instrument }, secret);
  expect([added.status, added.at("/instrument/schedule")]).toEqual([201, "5 * * * *"]);
  const body = {
    instruments: [{ symbol: "ETHUSDT", exchange: "BINANCE" }],
    start_date: "2024-12-01",
    end_date: "2025-01-01",
  };
  const run = await client.send("POST", `${path}/run-once`, body, secret);
  expect(run.status).toBe(202);
  await client.poll(`${path}/runs/${run.at("/run/id")}`, "/run/status", secret);
  const events = await client.get(`${path}/events?run_id=${run.at("/run/id")}`, secret);
  expect(events.list("/events").map((_, i) => [events.at(`/events/${i}/type`), events.at(`/events/${i}/candles`)]))
    .toEqual([
      ["run_finished", 744],
      ["range_ingested", 744],
      ["run_started", null],
    ]);
  const patched = await client.send("PATCH", `${path}/instruments/${added.at("/instrument/id")}`, {
    instrument: { schedule: null },
  }, secret);
  expect([patched.status, patched.at("/instrument/schedule")]).toEqual([200, null]);
  expect((await client.send("DELETE", `${path}/instruments/${added.at("/instrument/id")}`, undefined, secret)).status)
    .toBe(204);
  const listed = await client.get("/api/market-data/instruments?search=ETHUSDT");
  expect(listed.list("/instruments")).toEqual([]);
}
