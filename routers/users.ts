import { z } from "zod";
import { measureBacktests } from "../db/backtest_sizes.ts";
import type { Db } from "../db/client.ts";
import { optimizationRecords } from "../db/optimizations.ts";
import { countUnended, measureRegistry } from "../db/quotas.ts";
import { QUOTA_NAMES, type Quotas } from "../db/schema.ts";
import { changeQuotas, findQuotas } from "../db/users.ts";
import { AppError, quote } from "./common/errors.ts";
import { inputObject } from "./common/input_object.ts";
import { adminProcedure, type Context, router } from "./common/trpc.ts";

const ID_LENGTH_MAX = 100;

const id = z.string().max(ID_LENGTH_MAX);

const limitSchema = z.object({
  own: z.int().nullable().describe("The user's own limit; null for that of the service."),
  service: z.int().describe("The limit of users without their own, which a setting gives."),
  used: z.int().describe("What counts against it now."),
});
const quotasSchema = z.object({
  backtests_max: limitSchema.describe("Queued and running backtests."),
  optimizations_max: limitSchema.describe("Queued and running optimizations."),
  result_bytes_max: limitSchema.describe("Bytes of all runs with their results."),
  versions_max: limitSchema.describe("Versions of registered strategies."),
  registry_bytes_max: limitSchema.describe("Bytes of modules, those that backtests brought included."),
}).meta({ id: "UserQuotas" });

// PostgreSQL and JSON hold these exactly.
const change = z.int().min(1).nullish().describe("From 1; null gives the service's limit back.");
const changesSchema = inputObject({
  backtests_max: change,
  optimizations_max: change,
  result_bytes_max: change,
  versions_max: change,
  registry_bytes_max: change,
});

/** The users of the service, for admins: what the authentication library does not know of them. */
export const usersRouter = router({
  /** A user's limits, and what they use of them. */
  quotas: adminProcedure
    .input(inputObject({ id }))
    .output(z.object({ quotas: quotasSchema }))
    .query(async ({ ctx, input }) => ({ quotas: await show(ctx, input.id, await findQuotas(ctx.db, input.id)) })),

  /** Gives a user limits of their own, or the service's back. They count from the next request, and for runs that begin later. */
  changeQuotas: adminProcedure
    .input(inputObject({ id, quotas: changesSchema.describe("Limits to change; the others stay.") }))
    .output(z.object({ quotas: quotasSchema }))
    .mutation(async ({ ctx, input }) => {
      const changes = Object.entries(QUOTA_NAMES).map(([name, key]) => [key, Reflect.get(input.quotas, name)]);
      const own = await changeQuotas(ctx.db, input.id, Object.fromEntries(changes));
      return { quotas: await show(ctx, input.id, own) };
    }),
});

/** @throws AppError USER_NOT_FOUND where `own` is undefined. */
async function show(
  { db, quotaDefaults }: Context,
  userId: string,
  own: Partial<Quotas> | null | undefined,
): Promise<z.infer<typeof quotasSchema>> {
  if (own === undefined) throw new AppError("USER_NOT_FOUND", `Cannot find the user ${quote(userId)}`);
  const used = await measureUse(db, userId);
  const limit = (name: keyof Quotas) => ({
    own: own?.[name] ?? null,
    service: quotaDefaults[name],
    used: used[name],
  });
  return {
    backtests_max: limit("backtestsMax"),
    optimizations_max: limit("optimizationsMax"),
    result_bytes_max: limit("resultBytesMax"),
    versions_max: limit("versionsMax"),
    registry_bytes_max: limit("registryBytesMax"),
  };
}

async function measureUse(db: Db, userId: string): Promise<Record<keyof Quotas, number>> {
  const [backtests, optimizations, resultBytes, registry] = await Promise.all([
    countUnended(db, userId),
    optimizationRecords.countUnended(db, userId),
    measureBacktests(db, userId),
    measureRegistry(db, userId, null),
  ]);
  return {
    backtestsMax: backtests,
    optimizationsMax: optimizations,
    resultBytesMax: resultBytes,
    versionsMax: registry.versions,
    registryBytesMax: registry.bytes,
  };
}
