import type { SeededRandom } from "../faults/random.ts";
import type { Mutation, RawRequest } from "./requests.ts";
import type { Known } from "./values.ts";

const TEXTS = [
  "",
  " ",
  "'; drop table backtests; --",
  "%' or 1=1 --",
  "\\",
  "\u0000",
  "a\u0000b",
  "\ud800",
  "\udc00x",
  "\u202egnp.exe",
  "ｓｅｌｅｃｔ",
  "İıſK",
  "e\u0301".repeat(50),
  "🙂".repeat(60),
  "../../etc/passwd",
  "${7*7}{{7*7}}",
  "NaN",
  "Infinity",
  "-0",
  "1e400",
  "0x10",
  "2023-02-29",
  "0000-01-01",
  "+275760-09-13",
  "9999-12-31",
  "null",
  "[object Object]",
  "__proto__",
  "\r\nset-cookie: a=b",
  "x".repeat(201),
  "x".repeat(70_000),
];
const NUMBERS = [
  0,
  -0,
  1,
  -1,
  0.1,
  1e-320,
  1e308,
  -1e308,
  2 ** 31,
  2 ** 32,
  2 ** 53,
  -(2 ** 63),
  1e21,
  Number.MAX_VALUE,
  4.9e-324,
];
const KEYS = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "hasOwnProperty",
  "extra",
  "",
  "a/b~c",
  "0",
  "\u0000",
];
const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "PROPFIND"];
const TYPES = [
  "text/plain",
  "application/json; charset=utf-16",
  "APPLICATION/JSON",
  "multipart/form-data",
  "a",
  "text/csv",
];
const RAW_QUERIES = [
  "limit=1&limit=2",
  "__proto__=1",
  "__proto__[role]=admin",
  "constructor[prototype][role]=admin",
  "limit[]=1",
  "=",
  "&&&",
  "%",
  "%zz=%zz",
  "cursor=%ED%A0%80",
  "cursor=%00",
  "batch=1",
  "input=%7B",
  "a=%F0%9F",
  Array.from({ length: 300 }, (_, i) => `k${i}=v`).join("&"),
];
const SUFFIXES = [
  "/",
  "//",
  "/..",
  "/%2e%2e",
  "%00",
  "%zz",
  "%ED%A0%80",
  ";a=b",
  "/extra",
  "?",
  "%2f",
  "#",
  ".json",
  ",",
];
const HEADERS: readonly (readonly (readonly [string, string])[])[] = [
  [["x-request-id", "x".repeat(500)]],
  [["x-request-id", "<script>"]],
  [["cookie", "better-auth.session_token='; drop table session; --"]],
  [["cookie", Array.from({ length: 150 }, (_, i) => `c${i}=1`).join("; ")]],
  [["cookie", "better-auth.session_token=%zz"]],
  [["if-none-match", `"${"x".repeat(3000)}`]],
  [["if-none-match", "*"]],
  [["last-event-id", "1-completed-1"], ["range", "bytes=9-1"], ["accept", "text/html;q=x"]],
  [["origin", "null"]],
  [["origin", "http://evil.example"]],
  [["sec-fetch-site", "cross-site"]],
  [["x-forwarded-for", "'; drop table session; --"], ["x-forwarded-host", "evil.example"]],
  [["x-http-method-override", "DELETE"]],
  [["accept-encoding", "gzip, br, zstd, *;q=0"]],
  [["content-encoding", "gzip"]],
  [["trpc-accept", "application/jsonl"]],
  [["x-ingestion-admin-secret", "guess"]],
  [["authorization", "Bearer x"]],
  [["idempotency-key", "x".repeat(300)]],
  [["idempotency-key", "ünï"]],
  [["idempotency-key", "again"]],
  Array.from({ length: 90 }, (_, i) => [`x-bomb-${i}`, "x".repeat(100)] as const),
];

type Make = (random: SeededRandom, input: unknown, known: Known) => Mutation;

/** Every kind of mutation. A mutation of the input fits the input after the mutations before it. */
const KINDS: readonly Make[] = [
  (random, input) => atPlace(random, input, "a text", random.pick(TEXTS)),
  (random, input) => atPlace(random, input, "a text", random.pick(TEXTS)),
  (random, input) => atPlace(random, input, "a number", random.pick(NUMBERS)),
  (random, input) => atPlace(random, input, "another type", random.pick([null, true, [], {}, [[]], "1", 1, { a: 1 }])),
  (random, input) => atPlace(random, input, "nested deeply", nest(random.pick([5, 31, 40]))),
  (random, input) => atPlace(random, input, "a long list", Array.from({ length: 2000 }, (_, i) => i)),
  (random, input, { otherIds }) => atPlace(random, input, "an id of another user", random.pick([...otherIds, "1"])),
  (random, input, { cursors }) => atPlace(random, input, "a cursor", random.pick([...cursors, "bnVsbA", "LTE", "ICA"])),
  (random, input) => withoutPlace(random, input),
  (random, input) => withKey(random, input),
  (random) =>
    onRequest(
      "a raw query",
      (request, raw) => ({ ...request, query: [...request.query, raw] }),
      random.pick(RAW_QUERIES),
    ),
  () =>
    onRequest(
      "a query key twice",
      (request) => ({ ...request, query: [...request.query, ...request.query.slice(0, 1)] }),
      "",
    ),
  (random) =>
    onRequest("a path's end", (request, raw) => ({ ...request, path: request.path + raw }), random.pick(SUFFIXES)),
  (random) => onRequest("a method", (request, method) => withMethod(request, method), random.pick(METHODS)),
  (random) =>
    onRequest(
      "a content type",
      (request, type) => ({ ...request, headers: [...untyped(request), ["content-type", type]] }),
      random.pick(TYPES),
    ),
  () => onRequest("no content type", (request) => ({ ...request, headers: untyped(request) }), ""),
  (random) => withHeaders(random.pick(HEADERS)),
  (random) => withHeaders(random.pick(HEADERS)),
  (random) => brokenBody(random),
];

/** One to three mutations for an input; each works on the result of the one before. */
export function makeMutations(random: SeededRandom, input: unknown, known: Known): readonly Mutation[] {
  const count = random.pick([0, 0, 1, 1, 1, 2, 3]);
  const made: Mutation[] = [];
  let left = input;
  while (made.length < count) {
    const mutation = random.pick(KINDS)(random, left, known);
    left = mutation.onInput?.(left) ?? left;
    made.push(mutation);
  }
  return made;
}

type Place = readonly string[];

function listPlaces(value: unknown, place: Place = []): Place[] {
  if (typeof value !== "object" || value === null) return [place];
  const inner = Object.entries(value).slice(0, 20).flatMap(([key, member]) => listPlaces(member, [...place, key]));
  return [place, ...inner];
}

function atPlace(random: SeededRandom, input: unknown, what: string, value: unknown): Mutation {
  const place = random.pick(listPlaces(input));
  return { name: `${what} at /${place.join("/")}`, onInput: (given) => replace(given, place, () => value) };
}

function withoutPlace(random: SeededRandom, input: unknown): Mutation {
  const place = random.pick(listPlaces(input));
  return { name: `without /${place.join("/")}`, onInput: (given) => replace(given, place, () => undefined) };
}

function withKey(random: SeededRandom, input: unknown): Mutation {
  const place = random.pick(listPlaces(input));
  const key = random.pick(KEYS);
  const value = random.pick<unknown>([{ role: "admin" }, 1, "x"]);
  const add = (given: unknown) =>
    typeof given === "object" && given !== null && !Array.isArray(given)
      // defineProperty, because assigning to __proto__ would not make a key.
      ? Object.defineProperty({ ...given }, key, { value, enumerable: true, configurable: true, writable: true })
      : given;
  return {
    name: `a key ${JSON.stringify(key)} in /${place.join("/")}`,
    onInput: (given) => replace(given, place, add),
  };
}

/** The value with another in a place; unchanged if the place no longer exists. */
export function replace(value: unknown, place: Place, change: (given: unknown) => unknown): unknown {
  const [key, ...rest] = place;
  if (key === undefined) return change(value);
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return value;
  const entries = Object.entries(value).map(([name, member]) =>
    [name, name === key ? replace(member, rest, change) : member] as const
  );
  const kept = entries.filter(([, member]) => member !== undefined);
  if (Array.isArray(value)) return kept.map(([, member]) => member);
  const copy = {};
  for (const [name, member] of kept) {
    Object.defineProperty(copy, name, { value: member, enumerable: true, configurable: true, writable: true });
  }
  return copy;
}

function nest(levels: number): unknown {
  let value: unknown = 1;
  for (let i = 0; i < levels; i++) value = i % 2 === 0 ? [value] : { a: value };
  return value;
}

function onRequest(name: string, change: (request: RawRequest, raw: string) => RawRequest, raw: string): Mutation {
  return { name: `${name} ${JSON.stringify(raw.slice(0, 60))}`, onRequest: (request) => change(request, raw) };
}

function withMethod(request: RawRequest, method: string): RawRequest {
  return method === "GET" || method === "HEAD" ? { ...request, method, body: null } : { ...request, method };
}

function untyped({ headers }: RawRequest): RawRequest["headers"] {
  return headers.filter(([name]) => name !== "content-type");
}

function withHeaders(added: RawRequest["headers"]): Mutation {
  const names = added.map(([name, value]) => `${name}: ${value.slice(0, 30)}`).slice(0, 3);
  return {
    name: `headers ${names.join(", ")}`,
    onRequest: (request) => ({ ...request, headers: [...request.headers, ...added] }),
  };
}

/** A body that is not JSON, or JSON that no serialiser would write. */
function brokenBody(random: SeededRandom): Mutation {
  const at = random.next();
  const single = random.pick(["null", "1", '"x"', "[]", "true", "1e999"]);
  const breakings: readonly (readonly [string, (text: string) => string | Uint8Array])[] = [
    ["cut off", (text) => text.slice(0, Math.floor(text.length * at))],
    ["with rubbish behind", (text) => `${text}}`],
    ["with a byte order mark", (text) => `\ufeff${text}`],
    ["of bytes that are no text", () => Uint8Array.of(0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d)],
    ["of nothing", () => ""],
    ["of one value", () => single],
    ["nested ten thousand times", () => "[".repeat(10_000)],
    ["nested in objects", () => '{"a":'.repeat(5000) + "1" + "}".repeat(5000)],
    ["with a key twice", (text) => text.replace(/^\{/, '{"backtest":1,"strategy":2,')],
    ["of a megabyte and more", (text) => `${text}${" ".repeat(1_100_000)}`],
    ["with a number that is none", (text) => text.replace(/:\s*\d+/, ":1e999")],
    ["with a number of many digits", (text) => text.replace(/:\s*\d+/, `:${"9".repeat(400)}`)],
    ["with an escaped NUL", (text) => text.replace(/"([a-z_]+)":"/, '"$1":"\\u0000')],
  ];
  const [name, breakBody] = random.pick(breakings);
  const change = (body: RawRequest["body"]) => typeof body === "string" ? breakBody(body) : body;
  return { name: `a body ${name}`, onRequest: (request) => ({ ...request, body: change(request.body) }) };
}
