import { SeededRandom } from "../faults/random.ts";
import { type Complaint, judge } from "./answers.ts";
import { makeMutations, replace } from "./mutations.ts";
import { type Caller, CALLERS, type Case, describe, inputOf, toRequest, type Transport } from "./requests.ts";
import type { Target } from "./targets.ts";
import { ValueMaker } from "./values.ts";
import type { World } from "./world.ts";

const SENDERS = 4;
const SHRINK_TRIES_MAX = 150;
// These create the records that other procedures use, so they come more often.
const MAKERS = new Set(["backtests.create", "strategies.create", "strategies.addVersion", "ingestion.addInstrument"]);

/** A request with an invalid answer. */
export interface Failure extends Complaint {
  readonly request: string;
  readonly caller: string;
  /** The changes that were made to a good request. */
  readonly mutations: readonly string[];
}

/** The number of answers by status: shows that not all are refusals. */
export type Tally = Record<string, number>;

/**
 * Sends random requests, several at a time.
 *
 * @param requests How many.
 * @param until performance.now() after which no more are sent.
 * @returns The first failure, with the smallest request that shows it, or null; and the number of answers by status.
 */
export async function fuzz(
  world: World,
  targets: readonly Target[],
  { seed, requests, until = Infinity }: { readonly seed: number; readonly requests: number; readonly until?: number },
): Promise<{ readonly failure: Failure | null; readonly tally: Tally }> {
  const random = new SeededRandom(seed);
  const tally: Tally = {};
  let left = requests;
  let found: { fuzzed: Case; complaint: Complaint } | null = null;
  // The stream of a list's changes has no end to wait for.
  const ending = targets.filter(({ procedure }) => procedure !== "backtests.onListChange");
  const sender = async () => {
    while (left-- > 0 && found === null && performance.now() < until) {
      const fuzzed = makeCase(random, world, ending);
      const { complaint, status } = await attempt(world, fuzzed);
      tally[status] = (tally[status] ?? 0) + 1;
      if (complaint !== null) found ??= { fuzzed, complaint };
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, sender));
  return { failure: found === null ? null : await explain(world, found), tally };
}

function makeCase(random: SeededRandom, world: World, targets: readonly Target[]): Case {
  const target = random.pick(
    random.below(3) === 0 ? targets.filter(({ procedure }) => MAKERS.has(procedure)) : targets,
  );
  const caller = chooseCaller(random, target);
  const transport = chooseTransport(random, target);
  const known = world.known(caller);
  const input = target.shape === null ? undefined : new ValueMaker(random, known).make(target.shape);
  return { caller, target, transport, input, mutations: makeMutations(random, input, known) };
}

/** Chooses a caller, mostly one who may call the procedure. */
function chooseCaller(random: SeededRandom, { procedure }: Target): Caller {
  // Signing out and changing a password end the session.
  if (procedure.startsWith("accounts.")) return "nobody";
  const usual: readonly Caller[] = procedure.startsWith("ingestion") ? ["admin"] : ["ann", "bob"];
  return random.pick([...usual, ...usual, ...usual, ...CALLERS]);
}

function chooseTransport(random: SeededRandom, { route, procedure }: Target): Transport {
  const drawn = random.pick(["rest", "rest", "trpc", "batch"] as const);
  if (route === null) return "trpc";
  if (procedure.startsWith("accounts.")) return "rest";
  // tRPC cannot carry streams: now and then it must refuse one.
  return procedure.includes("Streams.") && drawn === "batch" ? "rest" : drawn;
}

/** Sends a case and judges the answer. */
async function attempt(world: World, fuzzed: Case): Promise<{ complaint: Complaint | null; status: string }> {
  const request = toRequest(fuzzed);
  try {
    const seen = await world.send(fuzzed.caller, request);
    world.learn(fuzzed.caller, seen);
    return { complaint: judge(fuzzed, request, seen, world.foreignMarks(fuzzed.caller)), status: String(seen.status) };
  } catch (error) {
    const detail = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    return { complaint: { kind: "no answer", detail: detail.slice(0, 1500) }, status: "none" };
  }
}

/** Makes a failing request smaller while the failure stays the same: first without mutations, then without parts of its input. */
async function explain(world: World, found: { fuzzed: Case; complaint: Complaint }): Promise<Failure> {
  let { fuzzed, complaint } = found;
  let tries = 0;
  const accept = async (smaller: Case): Promise<boolean> => {
    if (++tries > SHRINK_TRIES_MAX) return false;
    const again = await attempt(world, smaller);
    if (again.complaint?.kind !== complaint.kind) return false;
    fuzzed = smaller;
    complaint = again.complaint;
    return true;
  };
  for (const mutation of fuzzed.mutations) {
    await accept({ ...fuzzed, mutations: fuzzed.mutations.filter((one) => one !== mutation) });
  }
  // From here on the input includes its mutations.
  const fixed = { ...fuzzed, input: inputOf(fuzzed), mutations: fuzzed.mutations.filter((one) => one.onRequest) };
  const names = fuzzed.mutations.map(({ name }) => name);
  if (await accept(fixed)) {
    for (let isSmaller = true; isSmaller;) {
      isSmaller = false;
      for (const input of smallerInputs(fuzzed.input)) {
        isSmaller ||= await accept({ ...fuzzed, input });
        if (isSmaller) break;
      }
    }
  }
  const { caller } = fuzzed;
  return { ...complaint, caller, mutations: names, request: describe(toRequest(fuzzed)) };
}

/** Variants of the value, each without one of its members, the outermost first. */
function* smallerInputs(value: unknown): Generator<unknown> {
  const places: string[][] = [[]];
  for (let place = places.shift(); place !== undefined; place = places.shift()) {
    const at = read(value, place);
    if (typeof at !== "object" || at === null) continue;
    for (const key of Object.keys(at)) {
      yield replace(value, [...place, key], () => undefined);
      places.push([...place, key]);
    }
  }
}

function read(value: unknown, place: readonly string[]): unknown {
  return place.reduce<unknown>(
    (inner, key) =>
      typeof inner === "object" && inner !== null ? Object.getOwnPropertyDescriptor(inner, key)?.value : undefined,
    value,
  );
}
