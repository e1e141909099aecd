/** Checks of the way from a person to the service: its address, proxies, and the database behind it. */
import { z } from "zod";

/** The outcome of one check. */
export interface Finding {
  readonly check: string;
  readonly status: "ok" | "warning" | "failed";
  readonly says: string;
}

/** Above it, submissions of a busy service wait for the disk more than for anything else. */
const COMMIT_MS_MAX = 250;
const SAMPLES = 2;
/** Half of the time between the events of a try. */
const PAUSE_MS_MIN = 750;
const EVENTS_MS_MAX = 15_000;
const EVENTS_LENGTH_MAX = 10_000;
/** Longer than the readiness holds what it has found. */
const HOLD_MS = 2_100;
const refusalSchema = z.object({ error: z.looseObject({ code: z.string() }) });

/** Tries what works beside the service and fails behind a proxy, or in a browser. */
export async function findWay({ url }: { readonly url: string }): Promise<Finding[]> {
  return await Promise.all([findOrigin(url), findRefusal(url), findBuffer(url), findCommit(url)]);
}

/** A browser keeps a session only for an origin that the service knows as its own. The request signs nobody out. */
async function findOrigin(url: string): Promise<Finding> {
  const { origin, protocol, hostname } = new URL(url);
  const headers = { origin, cookie: "doctor=1", "content-type": "application/json" };
  const answer = await fetch(`${url}/api/auth/sign-out`, { method: "POST", headers, body: "{}" });
  const code = await readCode(answer);
  if (code === undefined && !answer.ok) {
    return { check: "browser", status: "warning", says: `cannot tell whether one can sign in at ${origin}` };
  }
  if (code === "ORIGIN_NOT_ALLOWED") {
    const says = `no browser can sign in at ${origin}: start the service with BASE_URL=${origin}`;
    return { check: "browser", status: "failed", says };
  }
  if (protocol === "https:" || /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)) {
    return { check: "browser", status: "ok", says: `browsers can sign in at ${origin}` };
  }
  return {
    check: "browser",
    status: "warning",
    says: `passwords cross the network in the clear at ${origin}: use https`,
  };
}

/** A refusal must arrive with its status and its words. */
async function findRefusal(url: string): Promise<Finding> {
  const answer = await fetch(`${url}/api/session`);
  const { status } = answer;
  if (await readCode(answer) === "UNAUTHENTICATED" && status === 401) {
    return { check: "refusals", status: "ok", says: "arrive as the service sends them" };
  }
  const says = `a proxy puts ${status} and a page of its own in their place: let it pass answers of 400 and more ` +
    "(nginx: proxy_intercept_errors off)";
  return { check: "refusals", status: "failed", says };
}

/** Events must arrive when they are sent: the console and `hindcast watch` live on them. */
async function findBuffer(url: string): Promise<Finding> {
  const pauses: number[] = [];
  for (let i = 0; i < SAMPLES && pauses.every((ms) => ms < PAUSE_MS_MIN); i++) pauses.push(await measurePause(url));
  const [ms = NaN] = pauses.slice(-1);
  if (ms >= PAUSE_MS_MIN) return { check: "events", status: "ok", says: "arrive when they are sent" };
  if (Number.isNaN(ms)) return { check: "events", status: "warning", says: "cannot tell whether a proxy holds them" };
  const says = "a proxy holds them back until many have come: let it pass text/event-stream at once " +
    "(nginx: proxy_buffering off, or no proxy_ignore_headers X-Accel-Buffering)";
  return { check: "events", status: "failed", says };
}

/** @returns Milliseconds between the arrivals of two events; NaN where they do not come. */
async function measurePause(url: string): Promise<number> {
  try {
    const answer = await fetch(`${url}/api/health/events`, { signal: AbortSignal.timeout(EVENTS_MS_MAX) });
    const arrivals: number[] = [];
    let text = "";
    for await (const piece of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += piece;
      const events = text.match(/^event: beat$/gm)?.length ?? 0;
      while (arrivals.length < events) arrivals.push(performance.now());
      if (text.length > EVENTS_LENGTH_MAX) return NaN;
    }
    return (arrivals[1] ?? NaN) - (arrivals[0] ?? NaN);
  } catch {
    return NaN;
  }
}

/** How long a write takes, beside an answer that asks no database. */
async function findCommit(url: string): Promise<Finding> {
  const times: number[] = [];
  for (let i = 0; i < SAMPLES; i++) {
    await new Promise((resume) => setTimeout(resume, HOLD_MS));
    const [bare, written] = [await time(`${url}/api/health/live`), await time(`${url}/api/health/ready`)];
    times.push(Math.max(0, written - bare));
  }
  // One slow answer may be anything's fault.
  const ms = Math.round(Math.min(...times));
  if (ms <= COMMIT_MS_MAX) return { check: "database", status: "ok", says: `writes within ${ms} ms` };
  return { check: "database", status: "warning", says: `takes ${ms} ms to write: each submission waits for it` };
}

async function time(url: string): Promise<number> {
  const begun = performance.now();
  await (await fetch(url)).body?.cancel();
  return performance.now() - begun;
}

async function readCode(answer: Response): Promise<string | undefined> {
  const text = await answer.text();
  try {
    return refusalSchema.safeParse(JSON.parse(text)).data?.error.code;
  } catch {
    return undefined;
  }
}
