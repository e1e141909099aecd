import { expect } from "@std/expect";
import { readAnswer } from "../../../../workers/sandbox/remote/answer.ts";
import { RemoteClient } from "../../../../workers/sandbox/remote/client.ts";
import { remoteTask, serveBytes } from "./endpoints.ts";

/** An answer for three candles, its fault, and the candle of the fault. */
const ANSWERS: readonly (readonly [answer: string, place: string, candle: number])[] = [
  ["", "not JSON", 0],
  ["hello", "not JSON", 0],
  ['{"version":1,"decisions":[[],[],[]]', "not JSON", 0],
  ['{"version":1,"decisions":[[],[],[{"side":"buy","size":NaN}]]}', "not JSON", 0],
  ['"\xff"', "not JSON", 0],
  ["[]", "must be a JSON object", 0],
  ["null", "must be a JSON object", 0],
  ['{"decisions":[[],[],[]]}', "/version must be 1, not missing", 0],
  ['{"version":2,"decisions":[[],[],[]]}', "/version must be 1, not 2", 0],
  ['{"version":1}', "/decisions must be a list", 0],
  ['{"version":1,"decisions":{}}', "/decisions must be a list", 0],
  ['{"version":1,"decisions":[[],[]]}', "/decisions must have 3 entries, one for each candle, not 2", 2],
  ['{"version":1,"decisions":[[],[],[],[]]}', "/decisions must have 3 entries, one for each candle, not 4", 2],
  ['{"version":1,"decisions":[[],[],[]],"plots":[]}', "/plots must be an object of series, not []", 0],
  ['{"version":1,"decisions":[[],[],[]],"plots":{"a":[1,2]}}', "/plots/a must have 3 values, as /decisions, not 2", 0],
  ['{"version":1,"decisions":[[],[],[]],"plots":{"a":1}}', "/plots/a must be a list of numbers, not 1", 0],
  ['{"version":1,"decisions":[[],[],[]],"plots":{"a":[1,1e999,2]}}', "/plots/a/1 must be a finite number or null", 0],
  ['{"version":1,"decisions":[[],[],[]],"plots":{"timestamp":[1,1,1]}}', "/plots/timestamp cannot be named so", 0],
  ['{"version":1,"decisions":[[],[],[]],"plots":{"":[1,1,1]}}', "must be a text of 1 to 64 characters", 0],
  ['{"version":1,"decisions":[[],[],[]],"panes":{"a":"price"}}', "/panes/a is of no series in /plots", 0],
  ['{"version":1,"decisions":[[],[],[]],"plots":{"a":[1,1,1]},"panes":{"a":7}}', "of /panes/a must be a text", 0],
  [
    `{"version":1,"decisions":[[],[],[]],"plots":{${Array.from({ length: 17 }, (_, n) => `"p${n}":[1,1,1]`)}}}`,
    "/plots must have at most 16 series, not 17",
    0,
  ],
  ['{"version":1,"decisions":[[],null,[]]}', "/decisions/1 must be a list, not null", 1],
  ['{"version":1,"decisions":[[],["buy"],[]]}', '/decisions/1/0 must be an object, not "buy"', 1],
  ['{"version":1,"decisions":[[],[],[{}]]}', "/decisions/2/0/side", 2],
  ['{"version":1,"decisions":[[],[],[{"side":null}]]}', '/decisions/2/0/side must be "buy" or "sell"', 2],
  ['{"version":1,"decisions":[[],[],[{"side":"hold"}]]}', '/decisions/2/0/side must be one of "sell", "buy"', 2],
  [
    '{"version":1,"decisions":[[],[],[{"side":"buy","size":"1"}]]}',
    '/decisions/2/0/size must be a finite number, not "1"',
    2,
  ],
  [
    '{"version":1,"decisions":[[],[],[{"side":"buy","size":1e999}]]}',
    "/decisions/2/0/size must be a finite number, not Infinity",
    2,
  ],
  [
    '{"version":1,"decisions":[[],[],[{"side":"buy","stop_loss":-1e999}]]}',
    "/decisions/2/0/stop_loss must be a finite",
    2,
  ],
  ['{"version":1,"decisions":[[],[],[{"side":"buy","size_by":"units"}]]}', "/decisions/2/0/size is missing", 2],
  [
    '{"version":1,"decisions":[[],[],[{"side":"buy","candles_max":1.5}]]}',
    "/decisions/2/0/candles_max must be a whole number",
    2,
  ],
  ['{"version":1,"decisions":[[],[],[{"side":"buy","stoploss":9}]]}', "/decisions/2/0/stoploss is not a key", 2],
  [
    '{"version":1,"decisions":[[],[],[{"side":"buy","reduce_only":1}]]}',
    "/decisions/2/0/reduce_only must be a boolean",
    2,
  ],
  ['{"version":1,"decisions":[[],[],[{"action":"fly"}]]}', "/decisions/2/0/action must be one of", 2],
  ['{"version":1,"decisions":[[],[],[{"action":"cancel"}]]}', "/decisions/2/0/id is missing", 2],
  [
    '{"version":1,"decisions":[[],[],[{"action":"protect","take_profit":"9"}]]}',
    "/decisions/2/0/take_profit must be a finite number",
    2,
  ],
  [`{"version":1,"decisions":[[],[${"{},".repeat(64)}{}],[]]}`, "/decisions/1 must have at most 64 actions, not 65", 1],
  [
    `{"version":1,"decisions":[[],[],[{"side":"buy","tag":"${"x".repeat(65)}"}]]}`,
    "/decisions/2/0/tag must be a text",
    2,
  ],
];

Deno.test("invalid answers end in INVALID_SIGNAL, with the JSON pointer and the candle", async () => {
  for (const [answer, place, candle] of ANSWERS) {
    const bytes = Uint8Array.from(answer, (character) => character.charCodeAt(0));
    await using server = serveBytes(() => [`HTTP/1.1 200 OK\r\ncontent-length: ${bytes.length}\r\n\r\n`, bytes]);
    const client = new RemoteClient(await remoteTask(`http://127.0.0.1:${server.port}/`));
    const asked = client.ask({ from: 0, first: 0, until: 3 }).finally(() => client.close());
    await expect(asked).rejects.toMatchObject({ code: "INVALID_SIGNAL", message: expect.stringContaining(place) });
    await expect(asked).rejects.toMatchObject({
      message: expect.stringContaining(`127.0.0.1:${server.port} for candle ${candle} (`),
    });
    // A retry would not help.
    expect(server.connections()).toBe(1);
  }
});

interface Shown {
  readonly decisions: readonly unknown[];
  readonly first_asked?: number;
  readonly more?: boolean;
}

Deno.test("the examples of REMOTE.md are valid", async () => {
  const page = await Deno.readTextFile(new URL("../../../../strategies/REMOTE.md", import.meta.url));
  const shown = [...page.matchAll(/^```(?:json|http)\n(.*?)^```/gms)].map(([, text = ""]) => text)
    .flatMap((text) => text.includes('"decisions"') ? [text.slice(text.indexOf("{"))] : [])
    // A program that fetches its requests sends the answer within another message.
    .map((text) => text.includes('"answer"') ? JSON.stringify(JSON.parse(text).answer.body) : text);
  const decisions = shown.map((text) => {
    const { decisions: { length }, first_asked = 0, more = false }: Shown = JSON.parse(text);
    const asked = { first: first_asked, count: more ? length + 1 : length, isContinued: first_asked > 0 };
    return readAnswer(new TextEncoder().encode(text), asked).decisions;
  });
  expect(decisions.map((list) => list.map((actions) => actions.map(({ action }) => action)))).toEqual([
    [[], ["order"], ["close"]],
    [[], ["order"], []],
    [[]],
    [["protect", "replace"]],
    [["order", "order"], ["cancel", "order"], ["order"], [], ["cancel_all", "close", "protect"]],
  ]);
  // The first message has its length, which HTTP needs.
  expect(page).toContain(`Content-Length: ${shown[0]!.trim().length}\n`);
});

Deno.test("fields that are absent, null or without effect are left out of an order", () => {
  const asked = { first: 0, count: 1, isContinued: false };
  const read = (action: object) =>
    readAnswer(new TextEncoder().encode(JSON.stringify({ version: 1, decisions: [[action]] })), asked).decisions;
  const bare = [[{ action: "order", when: "always", id: null, fields: { side: 1 } }]];
  expect(read({ side: "buy" })).toEqual(bare);
  expect(read({ action: "order", side: "buy", size: null, stop_loss: null, tag: null, id: null, reduce_only: false }))
    .toEqual(bare);
  const nothing = { action: null, when: null, type: null, size_by: null, candles_max: null, reduce_only: null };
  expect(read({ ...nothing, side: "buy" })).toEqual(bare);
  expect(read({ side: "sell", size: 2 })).toEqual([[{ ...bare[0]![0], fields: { side: -1, size: 2, sizeBy: 1 } }]]);
});
