import type { Target } from "./targets.ts";

/** The way to call a procedure: its route, or tRPC, alone or in a batch. */
export type Transport = "rest" | "trpc" | "batch";

/** A request as text, before it is sent; mutations work on it. */
export interface RawRequest {
  readonly method: string;
  readonly path: string;
  /** Pairs as written, so that a key can come twice or be badly encoded. */
  readonly query: readonly string[];
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string | Uint8Array | null;
}

/** A change that makes a request wrong or unusual. */
export interface Mutation {
  readonly name: string;
  readonly onInput?: (input: unknown) => unknown;
  readonly onRequest?: (request: RawRequest) => RawRequest;
}

/** The sender of a request. */
export const CALLERS = ["ann", "bob", "admin", "nobody"] as const;
export type Caller = (typeof CALLERS)[number];

/** A request with its origin, from which a smaller one can be made. */
export interface Case {
  readonly caller: Caller;
  readonly target: Target;
  readonly transport: Transport;
  readonly input: unknown;
  readonly mutations: readonly Mutation[];
}

/** The input of a procedure after the mutations of a case. */
export function inputOf({ input, mutations }: Case): unknown {
  return mutations.reduce((value, { onInput }) => onInput === undefined ? value : onInput(value), input);
}

/** The request that a case stands for. */
export function toRequest(fuzzed: Case): RawRequest {
  const input = inputOf(fuzzed);
  const plain = fuzzed.transport === "rest" ? restRequest(fuzzed.target, input) : trpcRequest(fuzzed, input);
  return fuzzed.mutations.reduce(
    (request, { onRequest }) => onRequest === undefined ? request : onRequest(request),
    plain,
  );
}

const CSV = "date,open,high,low,close,volume\n2024-01-01,1,2,1,2,10\n2024-01-02,2,3,1,1,10\n";

function restRequest({ procedure, route }: Target, input: unknown): RawRequest {
  if (route === null) throw new Error(`Cannot call ${procedure} by REST: it has no route`);
  const rest = new Map(typeof input === "object" && input !== null ? Object.entries(input) : []);
  const path = route.path.replaceAll(/:(\w+)/g, (_, name) => {
    const value = rest.get(name);
    rest.delete(name);
    return encode(value ?? "missing") || "empty";
  });
  const { method } = route;
  if (route.body === "json" || route.body === "optional") {
    const isObject = typeof input === "object" && input !== null && !Array.isArray(input);
    const value = isObject ? Object.fromEntries(rest) : input;
    const body = JSON.stringify(value) ?? "";
    const headers = [["content-type", "application/json"]] as const;
    return route.body === "optional" && body === "{}"
      ? { method, path, query: [], headers: [], body: null }
      : { method, path, query: [], headers, body };
  }
  const query = [...rest].filter(([key]) => route.body !== "csv" || key !== "body")
    .map(([key, value]) => `${encode(key)}=${encode(value)}`);
  return route.body === "csv"
    ? { method, path, query, headers: [["content-type", "text/csv"]], body: CSV }
    : { method, path, query, headers: [], body: null };
}

function trpcRequest({ target, transport }: Case, input: unknown): RawRequest {
  const { procedure, type } = target;
  const isBatch = transport === "batch" && type !== "subscription";
  const path = `/trpc/${isBatch ? `${procedure},health.get` : procedure}`;
  const text = JSON.stringify(isBatch ? { 0: input } : input) ?? "";
  const batch = isBatch ? ["batch=1"] : [];
  if (type === "mutation") {
    return { method: "POST", path, query: batch, headers: [["content-type", "application/json"]], body: text };
  }
  return {
    method: "GET",
    path,
    query: text === "" ? batch : [...batch, `input=${encode(text)}`],
    headers: [],
    body: null,
  };
}

function encode(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value) ?? "";
  return encodeURIComponent(text.toWellFormed());
}

/** A request as text that a person can read and send again. */
export function describe({ method, path, query, headers, body }: RawRequest): string {
  const lines = [`${method} ${path}${query.length === 0 ? "" : `?${query.join("&")}`}`];
  for (const [name, value] of headers) lines.push(`${name}: ${value}`);
  if (body !== null) lines.push("", typeof body === "string" ? body : `base64 ${body.toBase64()}`);
  return lines.map((line) => line.length <= 2000 ? line : `${line.slice(0, 2000)}... (${line.length} characters)`)
    .join("\n");
}
