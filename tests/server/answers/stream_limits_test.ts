import { expect } from "@std/expect";
import { setImmediate } from "node:timers";
import { toAppError } from "../../../routers/common/errors.ts";
import { measure, sendJson, StreamLimits } from "../../../server/answers/stream_limits.ts";
import { until } from "../../support/until.ts";

type Options = Partial<ConstructorParameters<typeof StreamLimits>[0]>;

const ANN = { address: "192.0.2.1", userId: null };
const EVENTS = { "content-type": "text/event-stream" };

/** Limits, and endless answers behind them whose source notifies when it is given up. */
function limit(options: Options) {
  const limits = new StreamLimits({ stallMs: 60_000, waitMs: 0, ...options });
  const ended = Promise.withResolvers<void>();
  const endless = (headers: HeadersInit = {}) =>
    new Response(
      new ReadableStream({
        pull: (body) => body.enqueue(new Uint8Array(1024)),
        cancel: () => ended.resolve(),
      }, { highWaterMark: 0 }),
      { headers },
    );
  const ask = (address: string, headers?: HeadersInit, userId: string | null = null) =>
    limits.answer({ address, userId }, () => Promise.resolve(endless(headers)));
  return { limits, ask, ended: ended.promise };
}

const codeOf = (answer: Promise<Response>) =>
  answer.then(({ status }) => status, (error) => {
    const { appCode, retryAfterSeconds } = toAppError(error);
    return [appCode, retryAfterSeconds];
  });

Deno.test("an address has so many answers under way, and all together have so many; an end makes room", async () => {
  const { ask } = limit({ answers: { addressMax: 2, max: 3 } });
  const first = await ask("192.0.2.1");
  const open = [first, await ask("192.0.2.1")];
  expect(await codeOf(ask("192.0.2.1"))).toEqual(["RATE_LIMITED", 1]);
  open.push(await ask("192.0.2.2"));
  expect(await codeOf(ask("192.0.2.3"))).toEqual(["UNAVAILABLE", 1]);
  await first.body?.cancel();
  open[0] = await ask("192.0.2.3");
  expect(open.map(({ status }) => status)).toEqual([200, 200, 200]);
  for (const { body } of open) await body?.cancel();
});

Deno.test("a request waits for a place, and one that other addresses have used up does not hold back the next", async () => {
  const { ask } = limit({ answers: { addressMax: 1, max: 2 }, waitMs: 60_000 });
  const [ann, bob] = [await ask("192.0.2.1"), await ask("192.0.2.2")];
  const order: string[] = [];
  const wait = (address: string) =>
    ask(address).then((answer) => {
      order.push(address);
      return answer;
    });
  // Ann has the only place that she may have, and Bob's is free first.
  const [again, other] = [wait("192.0.2.1"), wait("192.0.2.3")];
  await bob.body?.cancel();
  await (await other).body?.cancel();
  await ann.body?.cancel();
  await (await again).body?.cancel();
  expect(order).toEqual(["192.0.2.3", "192.0.2.1"]);
});

Deno.test("short answers need no place once they are made, and a failed one gives it back", async () => {
  const { limits, ask } = limit({ answers: { addressMax: 1, max: 1 } });
  const short = await limits.answer(ANN, () => Promise.resolve(sendJson("{}")));
  await expect(limits.answer(ANN, () => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
  const long = await ask("192.0.2.1");
  expect(await limits.bound(ANN, sendJson("[]"))).toBeInstanceOf(Response);
  const large = await measure(Response.json("x".repeat(70_000)));
  expect(await codeOf(limits.bound(ANN, large))).toEqual(["RATE_LIMITED", 1]);
  expect([await short.text(), short.headers.get("content-length")]).toEqual(["{}", "2"]);
  await long.body?.cancel();
  const whole = await limits.bound(ANN, await measure(Response.json("y".repeat(700_000))));
  expect((await whole.text()).length).toBe(700_002);
});

Deno.test("event streams have places of their own, and one that is read lives as long as it wants", async () => {
  const { limits, ask } = limit({
    stallMs: 20,
    answers: { addressMax: 1, max: 1 },
    events: { addressMax: 1, userMax: 1, max: 1 },
  });
  const next = Promise.withResolvers<Uint8Array>();
  const stream = new ReadableStream({ pull: async (body) => body.enqueue(await next.promise) }, { highWaterMark: 0 });
  const open = await limits.answer(ANN, () => Promise.resolve(new Response(stream, { headers: EVENTS })));
  const reader = open.body!.getReader();
  const read = reader.read();
  expect(await codeOf(ask("192.0.2.1", EVENTS))).toEqual(["RATE_LIMITED", 1]);
  // Three answers stall, one after the other, while the client of the events waits for one.
  for (let times = 0; times < 3; times++) {
    await expect((await ask("192.0.2.2")).body!.getReader().closed).rejects.toThrow("read nothing");
  }
  next.resolve(new Uint8Array(3));
  expect((await read).value?.byteLength).toBe(3);
  await reader.cancel();
});

Deno.test("a user has so many event streams, from any address; one that ends makes room", async () => {
  const { ask } = limit({ events: { addressMax: 2, userMax: 2, max: 5 } });
  const open = [await ask("192.0.2.1", EVENTS, "ann"), await ask("192.0.2.2", EVENTS, "ann")];
  const refused = ask("192.0.2.3", EVENTS, "ann");
  await expect(refused).rejects.toThrow("2 event streams of yours are under way; retry in 1 s");
  expect(await codeOf(refused)).toEqual(["RATE_LIMITED", 1]);
  open.push(await ask("192.0.2.1", EVENTS, "bob"));
  // One that its address refuses takes no place of its user.
  expect(await codeOf(ask("192.0.2.1", EVENTS, "bob"))).toEqual(["RATE_LIMITED", 1]);
  open.push(await ask("192.0.2.3", EVENTS, "bob"));
  await open[0]!.body?.cancel();
  open[0] = await ask("192.0.2.1", EVENTS, "ann");
  for (const { body } of open) await body?.cancel();
});

Deno.test("of long events that wait, the one whose client has read nothing for the longest is given up", async () => {
  const { limits } = limit({ unread: { addressBytesMax: 1_000_000, bytesMax: 1_500_000 } });
  // An event of half the bytes that may wait, after which nothing happens.
  const open = async (address: string, userId: string) => {
    let ended = false;
    let made = 0;
    const source = new ReadableStream({
      pull: (body) => made++ === 0 ? body.enqueue(new Uint8Array(500_000)) : new Promise<void>(() => {}),
      cancel: () => void (ended = true),
    }, { highWaterMark: 0 });
    const answer = await limits.answer(
      { address, userId },
      () => Promise.resolve(new Response(source, { headers: EVENTS })),
    );
    const reader = answer.body!.getReader();
    expect((await reader.read()).value?.byteLength).toBe(262_144);
    return { reader, hasEnded: () => ended };
  };
  const [first, second] = [await open("192.0.2.1", "ann"), await open("192.0.2.1", "ann")];
  // It reads on, so the second has read nothing for longer.
  expect((await first.reader.read()).value?.byteLength).toBe(500_000 - 262_144);
  const third = await open("192.0.2.1", "ann");
  expect([first.hasEnded(), second.hasEnded(), third.hasEnded()]).toEqual([false, true, false]);
  await expect(second.reader.read()).rejects.toThrow("reads too slowly");
  // One that has read its event holds nothing, so others have room.
  const isNext = first.reader.read();
  const fourth = await open("192.0.2.2", "bob");
  const fifth = await open("192.0.2.2", "bob");
  expect([third, fourth, fifth].map(({ hasEnded }) => hasEnded())).toEqual([false, false, false]);
  const sixth = await open("192.0.2.3", "cid");
  expect([third, fourth, fifth, sixth].map(({ hasEnded }) => hasEnded())).toEqual([true, false, false, false]);
  await Promise.all([first, fourth, fifth, sixth].map(({ reader }) => reader.cancel()));
  await isNext;
});

Deno.test("an answer that nobody reads is given up, whether or not its beginning was read", async () => {
  for (const pieces of [0, 1]) {
    const { ask, ended } = limit({ answers: { addressMax: 1, max: 1 }, stallMs: 20 });
    const reader = (await ask("192.0.2.1")).body!.getReader();
    for (let i = 0; i < pieces; i++) expect((await reader.read()).value?.byteLength).toBe(1024);
    await ended;
    await expect(reader.read()).rejects.toThrow("the client has read nothing for 0.02 s");
    const next = await ask("192.0.2.1");
    expect(next.status).toBe(200);
    await next.body?.cancel();
  }
});

Deno.test("an address's streams begin two at a time, and another address's does not wait for them", async () => {
  const limits = new StreamLimits({ stallMs: 60_000 });
  const piece = new Uint8Array(1);
  const asked: PromiseWithResolvers<Uint8Array>[] = [];
  const ask = async (address: string) => {
    const source = new ReadableStream({
      pull: async (body) => {
        asked.push(Promise.withResolvers());
        body.enqueue(await asked.at(-1)!.promise);
      },
    }, { highWaterMark: 0 });
    const answer = await limits.answer({ address, userId: null }, () => Promise.resolve(new Response(source)));
    return answer.body!.getReader();
  };
  const readers = await Promise.all(Array.from({ length: 6 }, () => ask("192.0.2.1")));
  const first = readers.map((reader) => reader.read());
  await until(() => asked.length === 2);
  await nextTurns();
  expect(asked.length).toBe(2);
  const other = await ask("192.0.2.2");
  const others = other.read();
  await until(() => asked.length === 3);
  // Each first piece, and each stream that is given up, lets the next one begin.
  asked[0]!.resolve(piece);
  await until(() => asked.length === 4);
  await readers[1]!.cancel();
  await until(() => asked.length === 5);
  for (let i = 1; i < 7; i++) {
    await until(() => asked.length > i);
    asked[i]!.resolve(piece);
  }
  await Promise.all([...first, others]);
  await Promise.all([...readers, other].map((reader) => reader.cancel()));
});

Deno.test("of many streams that could go on at once, one makes a piece in each turn of the event loop", async () => {
  const limits = new StreamLimits({ stallMs: 60_000 });
  let made = 0;
  const ask = async () => {
    const source = new ReadableStream({
      pull(body) {
        made++;
        body.enqueue(new Uint8Array(1));
      },
    }, { highWaterMark: 0 });
    const answer = await limits.answer(ANN, () => Promise.resolve(new Response(source)));
    return answer.body!.getReader();
  };
  const readers = await Promise.all(Array.from({ length: 20 }, ask));
  await Promise.all(readers.map((reader) => reader.read()));
  made = 0;
  const reads = Promise.all(readers.map((reader) => reader.read()));
  const madeInTurns: number[] = [];
  for (let before = 0; made < readers.length; before = made) {
    await nextTurns(1);
    madeInTurns.push(made - before);
  }
  expect(Math.max(...madeInTurns)).toBe(1);
  await reads;
  await Promise.all(readers.map((reader) => reader.cancel()));
});

/** Lets the event loop turn. */
async function nextTurns(count = 20): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise<void>((resolve) => setImmediate(resolve));
}
