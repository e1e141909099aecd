import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { z } from "zod";
import { deleteCheck, insertCheck, readCheck, readVerdict } from "../../db/module_checks.ts";
import type { Db } from "../../db/client.ts";
import type { Module } from "../../db/modules.ts";
import { lockUser } from "../../db/quotas.ts";
import { AppError } from "../common/errors.ts";
import type { Parameters } from "./parameters.ts";
import { takeCheckPosition } from "../common/quotas.ts";
import type { ModuleSource } from "./runtime_config.ts";
import type { Context, User } from "../common/trpc.ts";

const VERDICT_MS_MAX = 15_000;
// Without a notification: it may be lost with its connection.
const LOOK_MS = 1000;
/** Of the JSON of accepted verdicts that a process remembers, and for how long. */
const ACCEPTED_BYTES_MAX = 4 * 1024 * 1024;
const ACCEPTED_MS_MAX = 3_600_000;
const CODES = ["INVALID_SCRIPT", "ENDPOINT_NOT_ALLOWED", "SCRIPTS_NOT_ALLOWED", "PYTHON_NOT_READY"] as const;

/** A checked module, or a script. */
export interface CheckedModule extends Module {
  /** The parameters that its code declares; null: it declares none. */
  readonly parameterSchema: Record<string, unknown> | null;
  /** Present: the code decides on many markets at once; absent: on one. */
  readonly decidesOn?: "markets";
}

/** Facts about code that a worker accepted, by everything that a verdict depends on. */
const accepted = new LRUCache<string, Omit<CheckedModule, "data">>({
  maxSize: ACCEPTED_BYTES_MAX,
  ttl: ACCEPTED_MS_MAX,
  sizeCalculation: (verdict, key) => key.length + JSON.stringify(verdict).length,
});

const declaredSchema = z.record(z.string(), z.unknown()).nullable().default(null);

/**
 * Waits until a worker has checked a module or a script, and has fetched it first if the user gave its address. This process compiles no
 * user's module and calls no user's address. Code that a user sent before with the same parameters, and that was accepted, is not checked again.
 *
 * @param parameters For the dry run.
 * @throws AppError INVALID_MODULE, INVALID_SCRIPT, ENDPOINT_NOT_ALLOWED, SCRIPTS_NOT_ALLOWED or PYTHON_NOT_READY with the worker's reason; QUOTA_EXCEEDED when too many of the user's
 * checks wait; UNAVAILABLE when no worker answers in time, or the check's process broke twice. After an error nothing stays stored.
 */
export async function checkModule(
  ctx: Context & { readonly user: User },
  source: ModuleSource,
  parameters: Parameters,
  lookbackCandles: number,
): Promise<CheckedModule> {
  const { data, format } = source;
  if (data === null) return await askWorker(ctx, source, parameters, lookbackCandles);
  const key = hash(JSON.stringify([ctx.user.id, format, hash(data), parameters, lookbackCandles]));
  const known = accepted.get(key);
  if (known !== undefined) return { data, ...known };
  const { data: _, ...facts } = await askWorker(ctx, source, parameters, lookbackCandles);
  accepted.set(key, facts);
  return { data, ...facts };
}

async function askWorker(
  ctx: Context & { readonly user: User },
  { path, ...source }: ModuleSource,
  parameters: Parameters,
  lookbackCandles: number,
): Promise<CheckedModule> {
  const id = await ctx.db.transaction(async (tx: Db) => {
    await lockUser(tx, ctx.user.id);
    const queuePosition = await takeCheckPosition(tx, ctx.user.id);
    const inserted = await insertCheck(tx, {
      ...source,
      ownerId: ctx.user.id,
      parameters,
      lookbackCandles,
      queuePosition,
    });
    await ctx.queue.enqueueModuleCheck(tx, inserted, ctx.user.id, queuePosition);
    return inserted;
  });
  let changed = Promise.withResolvers<void>();
  const unwatch = await ctx.queue.watchModuleCheck(id, () => changed.resolve());
  try {
    const declared = await awaitVerdict(ctx.db, id, path, async () => {
      const look = setTimeout(() => changed.resolve(), LOOK_MS);
      await changed.promise;
      clearTimeout(look);
      changed = Promise.withResolvers();
    });
    const data = source.data ?? (await readCheck(ctx.db, id))?.data;
    if (data === undefined || data === null) throw new Error(`Cannot find the module of the accepted check ${id}`);
    return { data, sha256: hash(data), ...declared };
  } finally {
    unwatch();
    await deleteCheck(ctx.db, id);
  }
}

function hash(data: Uint8Array | string): string {
  return createHash("sha256").update(data).digest("hex");
}

/** @param untilChanged Waits until there may be a verdict. */
async function awaitVerdict(
  db: Db,
  id: string,
  path: string,
  untilChanged: () => Promise<void>,
): Promise<Pick<CheckedModule, "parameterSchema" | "decidesOn">> {
  const deadline = performance.now() + VERDICT_MS_MAX;
  for (;;) {
    const verdict = await readVerdict(db, id);
    if (verdict?.accepted === true) {
      const { decidesOn } = verdict;
      return { parameterSchema: declaredSchema.parse(verdict.parameterSchema), ...(decidesOn && { decidesOn }) };
    }
    if (verdict?.code === "UNAVAILABLE") throw unavailable(verdict.message);
    if (verdict !== undefined) {
      const code = CODES.find((known) => known === verdict.code) ?? "INVALID_MODULE";
      const { message } = verdict;
      throw new AppError(code, message, { issues: [{ path, message }] });
    }
    if (performance.now() > deadline) throw unavailable("Cannot check the code: no worker has answered");
    await untilChanged();
  }
}

function unavailable(message: string): AppError {
  return new AppError("UNAVAILABLE", message, { retryAfterSeconds: 15 });
}
