import { configure, type LogRecord, reset } from "@logtape/logtape";
import { expect } from "@std/expect";
import { parseJson, ProviderClient, type ProviderOptions } from "../../../market/feeds/provider_client.ts";
import { faultOf, type Handler, withProvider } from "../../support/provider.ts";

const now = Date.parse("2024-01-01T00:00:30Z");
const clientOf = (baseUrl: string, more: Partial<ProviderOptions> = {}) =>
  new ProviderClient({
    name: "the provider",
    baseUrl,
    budget: { weightMax: 100, windowMs: 60_000 },
    now: () => now,
    ...more,
  });

Deno.test("no request is sent before a Retry-After, in seconds or as a date", async () => {
  const cases = [
    ["7", 7],
    ["Mon, 01 Jan 2024 00:02:00 GMT", 90],
    ["86400", 86_400],
    // A longer time is cut to a day.
    ["86401", 86_400],
    ["1704067260", 86_400],
    ["9".repeat(400), 86_400],
    ["Mon, 01 Jan 2124 00:00:00 GMT", 86_400],
    // Without a readable time, a minute.
    [null, 60],
    ["0", 60],
    ["-5", 60],
    ["soon", 60],
    ["Mon, 01 Jan 2024 00:00:00 GMT", 60],
  ] as const;
  for (const [header, retryAfterSeconds] of cases) {
    const handler: Handler = () => new Response("", { status: 429, headers: header ? { "retry-after": header } : {} });
    await withProvider(handler, async (baseUrl, asked) => {
      const client = clientOf(baseUrl);
      const said = { fault: "rate_limited", retryAfterSeconds };
      expect([header, await faultOf(client.get("/", undefined))]).toMatchObject([header, said]);
      expect(await faultOf(client.get("/", undefined))).toMatchObject(said);
      expect(asked.length).toBe(1);
    });
  }
});

Deno.test("a Retry-After of more than a day is cut to a day and logged", async () => {
  const records: LogRecord[] = [];
  await configure({
    sinks: { records: (record) => void records.push(record) },
    loggers: [{ category: "hindcast", sinks: ["records"] }, { category: ["logtape", "meta"], lowestLevel: "fatal" }],
  });
  const headers = ["86400", "86401"];
  await withProvider(
    () => new Response("", { status: 418, headers: { "retry-after": headers.shift()! } }),
    async (url) => {
      let clock = now;
      const client = clientOf(url, { now: () => clock });
      await faultOf(client.get("/", undefined));
      expect(records).toEqual([]);
      clock += 86_400_000;
      await faultOf(client.get("/", undefined));
      // A request that is held back here writes no second line.
      await faultOf(client.get("/", undefined));
    },
  );
  await reset();
  expect(records.map(({ level, message }) => [level, message.join("")])).toEqual([
    ["warning", "the provider answered 418 with a Retry-After of 86401 s: the next request waits 86400 s"],
  ]);
});

Deno.test("a cut answer fails, with every way to mark its end", async () => {
  const heads = ["content-length: 100\r\n\r\n", "transfer-encoding: chunked\r\n\r\n6\r\n", "connection: close\r\n\r\n"];
  for (const head of heads) {
    const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const served = serveOnce(listener, `HTTP/1.1 200 OK\r\n${head}[[1,2,`);
    const asked = clientOf(`http://127.0.0.1:${listener.addr.port}`).get("/", undefined);
    const read = asked.then(({ bytes }) => parseJson(bytes, "the provider"));
    expect([head, (await faultOf(read)).fault]).toEqual([head, "failed"]);
    await served;
    listener.close();
  }
});

/** Answers the first request with a text, and hangs up. */
async function serveOnce(listener: Deno.TcpListener, text: string) {
  using connection = await listener.accept();
  await connection.read(new Uint8Array(4096));
  await connection.write(new TextEncoder().encode(text));
}

Deno.test("an endless answer fails, slow or fast", async () => {
  const ended = Promise.withResolvers<void>();
  let hasArrived = false;
  const slow: Handler = () => {
    hasArrived = true;
    return new Response(
      new ReadableStream({
        start: (controller) => controller.enqueue(new TextEncoder().encode("[")),
        cancel: () => ended.resolve(),
      }),
    );
  };
  await withProvider(slow, async (baseUrl) => {
    // On a busy machine the first ones may be given up before they have arrived.
    for (let timeoutMs = 100; !hasArrived; timeoutMs *= 2) {
      const fault = await faultOf(clientOf(baseUrl, { timeoutMs }).get("/", undefined));
      expect([fault.fault, fault.message]).toEqual(["failed", "Cannot reach the provider: it did not answer in time"]);
    }
    await ended.promise;
  });
  let sent = 0;
  const huge: Handler = () =>
    new Response(
      new ReadableStream({
        pull(controller) {
          sent += 1024 ** 2;
          controller.enqueue(new Uint8Array(1024 ** 2));
        },
      }),
    );
  await withProvider(huge, async (baseUrl) => {
    expect(await faultOf(clientOf(baseUrl).get("/", undefined))).toMatchObject({ fault: "refused" });
    expect(sent).toBeGreaterThan(64 * 1024 ** 2);
  });
});

Deno.test("the provider's own count belongs to the minute of the request", async () => {
  let clock = now;
  const requests = Array.from({ length: 3 }, () => ({
    arrived: Promise.withResolvers<void>(),
    answer: Promise.withResolvers<Response>(),
  }));
  const handler: Handler = ({ pathname }) => {
    const { arrived, answer } = requests[Number(pathname.slice(1))]!;
    arrived.resolve();
    return answer.promise;
  };
  await withProvider(handler, async (baseUrl) => {
    const client = clientOf(baseUrl, { usedWeightHeader: "x-used", now: () => clock });
    const send = async (index: number) => {
      const done = client.get(`/${index}`, undefined);
      await requests[index]!.arrived.promise;
      return { done };
    };
    const answer = async (index: number, { done }: { done: Promise<unknown> }, used: string) => {
      requests[index]!.answer.resolve(new Response("", { headers: { "x-used": used } }));
      await done;
    };
    const first = await send(0);
    clock += 60_000;
    const second = await send(1);
    // The minute in which the first was sent is over, and its count with it.
    await answer(0, first, "100");
    await answer(1, second, "99");
    await answer(2, await send(2), "");
    expect(await faultOf(client.get("/3", undefined))).toMatchObject({ fault: "rate_limited", retryAfterSeconds: 30 });
  });
});
