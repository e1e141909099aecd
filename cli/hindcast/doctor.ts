import { z } from "zod";
import { readLogin } from "../login_file.ts";
import manifest from "../../deno.json" with { type: "json" };
import { type Caller, callerOf, calling, SECRET_UNKNOWN } from "./caller.ts";
import { callerFor, outputFor, print, serviceCommand } from "./command.ts";
import { type Finding, findWay } from "./doctor_way.ts";
import { CommandError, EXIT, toCommandError, unreachable } from "../exit_codes.ts";

const CLOCK_MS_MAX = 60_000;
const DAYS_LEFT_MIN = 7;
const DAY_MS = 86_400_000;
const LOOPBACK: ReadonlySet<string> = new Set(["127.0.0.1", "[::1]", "localhost"]);
const PYTHON = new URL("../../workers/sandbox/python/dist", import.meta.url);
const healthSchema = z.looseObject({ status: z.string() });
const readySchema = z.looseObject({ reasons: z.array(z.string()), notes: z.array(z.string()) });

const COLORS = { ok: "green", warning: "cyan", failed: "red" } as const;

/** `hindcast doctor`. */
export const doctorCommand = serviceCommand("doctor", "Say whether everything is set up, and what would fail")
  .action(async (options) => {
    const output = outputFor(options);
    const findings = await findAll(options);
    const lines = findings.map(({ check, status, says }) =>
      `${output.paint(COLORS[status], status.padEnd(8))} ${check.padEnd(8)} ${says}`
    );
    print(output, { checks: findings }, lines.join("\n"));
    const failed = findings.filter(({ status }) => status === "failed").length;
    if (failed > 0) {
      throw new CommandError(`${failed} of ${findings.length} checks failed`, EXIT.failed, { code: "DOCTOR" });
    }
  });

async function findAll(options: Parameters<typeof callerFor>[0]): Promise<Finding[]> {
  const local = [findRuntime(), findPython()];
  let caller;
  try {
    caller = callerFor(options);
  } catch (error) {
    const says = error instanceof Error ? error.message : String(error);
    return [...local, { check: "login", status: "failed", says }];
  }
  const service = [...await findService(caller), ...await findReadiness(caller)];
  const isUp = service.every(({ check, status }) => check !== "service" || status === "ok");
  if (!isUp) return [...local, ...service];
  const way = await findWay(caller);
  return [...local, ...service, ...way, await findSession(caller), ...await findSecret(caller), await findData(caller)];
}

function findRuntime(): Finding {
  return { check: "command", status: "ok", says: `hindcast ${manifest.version} on Deno ${Deno.version.deno}` };
}

function findPython(): Finding {
  try {
    Deno.statSync(PYTHON);
    return { check: "python", status: "ok", says: "scripts in Python run on this machine" };
  } catch {
    const says = "scripts in Python are not ready on this machine: hindcast serve builds what they need";
    return { check: "python", status: "warning", says };
  }
}

async function findService({ url }: Caller): Promise<Finding[]> {
  const sent = Date.now();
  let answer;
  try {
    answer = await fetch(`${url}/api/health`);
  } catch (error) {
    const { message } = unreachable(url, error instanceof Error ? error.message : String(error));
    return [{ check: "service", status: "failed", says: message }];
  }
  const { data } = healthSchema.safeParse(await answer.json().catch(() => null));
  const ms = Date.now() - sent;
  if (data === undefined) {
    const says = `${url} answers ${answer.status}, and not as the service does: is it its address, and is it up?`;
    return [{ check: "service", status: "failed", says }];
  }
  const says = `${url} says ${data.status} after ${ms} ms`;
  return [
    { check: "service", status: answer.ok && data.status === "ok" ? "ok" : "failed", says },
    findClock(answer.headers.get("date")),
  ];
}

/** The service's own reasons why it cannot do all of its work. A service that is older than the route has none to tell. */
async function findReadiness({ url }: Caller): Promise<Finding[]> {
  const { status, answer } = await readReadiness(url);
  const { data } = readySchema.safeParse(answer);
  if (data === undefined && status < 500) return [];
  if (data === undefined || (data.reasons.length > 0 && status !== 503)) {
    const says = `a proxy puts ${status} in place of the service's 503: let it pass 503 with its body and Retry-After`;
    return [{ check: "ready", status: "failed", says }];
  }
  const findings = [
    ...data.reasons.map((says) => ({ check: "ready", status: "failed" as const, says })),
    ...data.notes.map((says) => ({ check: "ready", status: "warning" as const, says })),
  ];
  const well = { check: "ready", status: "ok" as const, says: "the service writes, has its tables and a worker" };
  return findings.length === 0 ? [well] : findings;
}

async function readReadiness(url: string): Promise<{ readonly status: number; readonly answer: unknown }> {
  const response = await fetch(`${url}/api/health/ready`).catch(() => null);
  return { status: response?.status ?? 0, answer: await response?.json().catch(() => null) };
}

/** A clock that is wrong makes dates wrong, and tokens that have expired look good. */
function findClock(date: string | null): Finding {
  const away = date === null ? 0 : Math.abs(Date.parse(date) - Date.now());
  if (!(away > CLOCK_MS_MAX)) return { check: "clock", status: "ok", says: "agrees with the service's" };
  const says = `is ${Math.round(away / 1000)} s away from the service's: set this machine's time`;
  return { check: "clock", status: "warning", says };
}

async function findSession(caller: Caller): Promise<Finding> {
  if (caller.token === undefined) {
    const saved = readLogin();
    const elsewhere = saved === null ? "" : ` (the saved login is for ${saved.url})`;
    return {
      check: "login",
      status: "failed",
      says: `nobody is signed in at ${caller.url}${elsewhere}: hindcast login`,
    };
  }
  try {
    const { user, session } = await calling(caller, caller.api.session.get.query());
    const days = Math.floor((Date.parse(session.expires_at) - Date.now()) / DAY_MS);
    const says = `${user.email}, scope ${session.scope ?? "session"}, for ${days} more days`;
    if (session.scope === "read") return { check: "login", status: "warning", says: `${says}: it cannot submit runs` };
    return { check: "login", status: days < DAYS_LEFT_MIN ? "warning" : "ok", says };
  } catch (error) {
    return { check: "login", status: "failed", says: toCommandError(error, caller.url).message };
  }
}

/** The secret of imports, where this machine has one and runs the service: no other address is told it unasked. */
async function findSecret({ url }: Caller): Promise<Finding[]> {
  const secret = Deno.env.get("INGESTION_ADMIN_SECRET");
  if (!secret || !LOOPBACK.has(new URL(url).hostname)) return [];
  const headers = { "x-ingestion-admin-secret": secret };
  const answer = await fetch(`${url}/api/admin/ingestion/instruments`, { headers, redirect: "manual" }).catch(() =>
    null
  );
  await answer?.body?.cancel();
  const status = answer?.status ?? 0;
  if (status === 200) return [{ check: "import", status: "ok", says: "INGESTION_ADMIN_SECRET is the service's" }];
  if (status === 401 || status === 403) return [{ check: "import", status: "failed", says: SECRET_UNKNOWN }];
  const says = `INGESTION_ADMIN_SECRET was not tried: ${status === 0 ? "no answer" : `the answer was ${status}`}`;
  return [{ check: "import", status: "warning", says }];
}

/** Everybody may read what is held, also with a login that has failed. */
async function findData({ url }: Caller): Promise<Finding> {
  const caller = callerOf(url, undefined);
  let instruments;
  try {
    ({ instruments } = await calling(caller, caller.api.marketData.instruments.query({ limit: 200 })));
  } catch (error) {
    return { check: "data", status: "failed", says: toCommandError(error, caller.url).message };
  }
  const count = `${instruments.length}${instruments.length === 200 ? " or more" : ""}`;
  if (instruments.length > 0) return { check: "data", status: "ok", says: `candles of ${count} instruments` };
  return { check: "data", status: "warning", says: "no candles are held: hindcast import FILE" };
}
