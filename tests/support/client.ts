import { checkDescribed } from "./described_answers.ts";
import { until } from "./until.ts";

/** A backtest to submit: a week of the sample, which takes a moment. */
export const BACKTEST = {
  symbol: "DEMO",
  exchange: "SAMPLE",
  strategy: "SMA Cross",
  start_date: "2024-01-01",
  end_date: "2024-01-08",
  initial_balance: 1000,
  parameters: { timeframe: "1h" },
};

/** An answer, with a way into its JSON that needs no type. */
export class Answer {
  readonly #json: unknown;

  constructor(readonly status: number, readonly headers: Headers, readonly text: string) {
    this.#json = text !== "" && /^application\/json/.test(headers.get("content-type") ?? "")
      ? JSON.parse(text)
      : undefined;
  }

  /** The value at a JSON pointer; undefined where nothing is. */
  at(pointer: string): unknown {
    let value: unknown = this.#json;
    for (const key of pointer.split("/").slice(1)) {
      if (typeof value !== "object" || value === null) return undefined;
      value = Object.entries(value).find(([name]) => name === key)?.[1];
    }
    return value;
  }

  /** The list that a JSON pointer leads to. */
  list(pointer: string): readonly unknown[] {
    const value = this.at(pointer);
    if (!Array.isArray(value)) throw new Error(`Cannot read ${pointer} as a list: ${this.status} ${this.text}`);
    return value;
  }
}

/** A client that keeps its cookie, as a browser or curl with a jar does, and sends no Origin unless told. */
export class TestClient {
  cookie = "";

  constructor(readonly url: string) {}

  /** Sends a request; a body that is neither text nor bytes is sent as JSON. */
  async send(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const all = new Headers(headers);
    if (this.cookie !== "" && !all.has("cookie")) all.set("cookie", this.cookie);
    const raw = typeof body === "string" || body instanceof Uint8Array
      ? new Blob([new Uint8Array(toBytes(body))])
      : null;
    if (body !== undefined && raw === null) all.set("content-type", "application/json");
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: all,
      redirect: "manual",
      ...(body === undefined ? {} : { body: raw ?? JSON.stringify(body) }),
    });
    const answer = new Answer(response.status, response.headers, await response.text());
    checkDescribed(method, path, { status: answer.status, headers: answer.headers, json: answer.at("") });
    return answer;
  }

  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Answer> {
    return this.send("GET", path, undefined, headers);
  }

  /** Signs a user up and keeps the cookie. */
  async signUp(email = `${crypto.randomUUID()}@example.com`, password = "correct horse battery"): Promise<string> {
    const answer = await this.send("POST", "/api/auth/sign-up/email", { name: "Test", email, password });
    if (answer.status !== 200) throw new Error(`Cannot sign ${email} up: ${answer.status} ${answer.text}`);
    this.cookie = answer.headers.getSetCookie().map((line) => line.split(";")[0]).join("; ");
    return email;
  }

  /** The cookie as a jar of curl's. */
  jar(): string {
    const [name = "", ...value] = this.cookie.split(";")[0]?.split("=") ?? [];
    return ["127.0.0.1", "FALSE", "/", "FALSE", "0", name, value.join("=")].join("\t") + "\n";
  }

  /** Polls a backtest, as clients do, until it has ended. */
  finish(id: unknown): Promise<Answer> {
    return this.poll(`/api/backtests/${id}`, "/backtest/status");
  }

  /** Polls until the status to which a JSON pointer leads is neither queued nor running. */
  poll(path: string, pointer: string, headers?: Readonly<Record<string, string>>): Promise<Answer> {
    return until(async () => {
      const answer = await this.get(path, headers);
      return !["queued", "running"].includes(String(answer.at(pointer))) && answer;
    });
  }
}

function toBytes(body: string | Uint8Array): Uint8Array {
  return typeof body === "string" ? new TextEncoder().encode(body) : body;
}
