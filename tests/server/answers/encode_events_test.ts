import { expect } from "@std/expect";
import { encodeEvents, type ServerEvent } from "../../../server/answers/encode_events.ts";

const REQUEST = new Request("http://127.0.0.1/");

function open(events: AsyncGenerator<ServerEvent>, keepAliveMs?: number) {
  return encodeEvents(events, REQUEST, keepAliveMs).body!.pipeThrough(new TextDecoderStream()).getReader();
}

/** Until timers of a millisecond that were set before have had their turn, several times over. */
async function untilTimersRan(): Promise<void> {
  const over = Promise.withResolvers<void>();
  // deno-lint-ignore require-yield
  async function* silent(): AsyncGenerator<ServerEvent> {
    await over.promise;
  }
  const reader = open(silent(), 1);
  for (let i = 0; i < 5; i++) expect((await reader.read()).value).toBe(": still here\n\n");
  over.resolve();
  await reader.cancel();
}

Deno.test("a stream whose events fail ends with the failure, and nobody writes to it any more", async () => {
  async function* failing(): AsyncGenerator<ServerEvent> {
    yield { id: "1", event: "status", data: 1 };
    await Promise.reject(new Error("the database is away"));
  }
  const reader = open(failing(), 1);
  expect((await reader.read()).value).toBe("id: 1\nevent: status\ndata: 1\n\n");
  await expect(reader.read()).rejects.toThrow("the database is away");
  // A timer that still wrote would throw where nobody catches, which ends a service as it would this test.
  await untilTimersRan();
});

Deno.test("a reader who leaves ends the events", async () => {
  const ended = Promise.withResolvers<void>();
  async function* endless(): AsyncGenerator<ServerEvent> {
    try {
      for (let i = 1;; i++) yield { id: String(i), event: "progress", data: await Promise.resolve(i) };
    } finally {
      ended.resolve();
    }
  }
  const reader = open(endless());
  await reader.read();
  await reader.cancel();
  await ended.promise;
  await untilTimersRan();
});
