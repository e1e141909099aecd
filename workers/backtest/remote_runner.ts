import { EndpointBreaker } from "../egress/breaker.ts";
import { type EgressRules, guardEndpoint, permissionFor } from "../egress/guard.ts";
import { type Outcome, RunError } from "../common/outcome.ts";
import type { PinnedEndpoint, RemoteMarketsTask, RemoteTask } from "../common/remote_task.ts";
import { runInSandbox, type SandboxLimits } from "../sandbox/process.ts";
import type { SandboxMarkets, SandboxRun } from "../sandbox/task.ts";
import { servedNameOf } from "../egress/rules.ts";

/** A task before its endpoint is resolved. */
type Unresolved<Task> = Omit<Task, "endpoint"> & {
  readonly endpoint: string;
  /** Another user's: only its owner may read its address. */
  readonly isForeign?: boolean;
  /** The user whose programs answer; the endpoint is `serve:NAME` then. */
  readonly servedBy?: string;
};

/** A remote run over one market, and over many. */
export type RemoteRun = Unresolved<RemoteTask>;
export type RemoteMarketsRun = Unresolved<RemoteMarketsTask>;

/** Where a run is decided, and the part of its task that this settles. */
type Where = Pick<RemoteRun, "endpoint" | "isForeign" | "servedBy" | "timeoutMs">;
type Called = Pick<RemoteTask, "endpoint" | "timeoutMs">;

const FOREIGN_HOST = "the strategy's endpoint";

/** Runs remote strategies, each in a process of its own that may call only its endpoint's checked address. */
export class RemoteRunner {
  readonly #rules: EgressRules;
  readonly #breaker = new EndpointBreaker();

  constructor(rules: EgressRules) {
    this.#rules = rules;
  }

  /**
   * Resolves and checks the endpoint's address, and runs the strategy.
   *
   * @throws {RunError} ENDPOINT_NOT_ALLOWED; ENDPOINT_FAILED when the name has no address, or too many runs on the endpoint failed.
   */
  async run(run: RemoteRun, limits: Omit<SandboxLimits, "address">): Promise<Outcome<SandboxRun>> {
    const { isForeign: _isForeign, servedBy: _servedBy, ...more } = run;
    return await this.#call(
      run,
      limits,
      (called, within) => runInSandbox({ kind: "remote", task: { ...more, ...called } }, within),
    );
  }

  /** The same over many markets. @throws {RunError} As `run`. */
  async runMarkets(
    run: RemoteMarketsRun,
    limits: Omit<SandboxLimits, "address">,
  ): Promise<Outcome<SandboxMarkets>> {
    const { isForeign: _isForeign, servedBy: _servedBy, ...more } = run;
    return await this.#call(
      run,
      limits,
      (called, within) => runInSandbox({ kind: "remote_markets", task: { ...more, ...called } }, within),
    );
  }

  async #call<Value extends object>(
    { endpoint, isForeign = false, servedBy, timeoutMs }: Where,
    limits: Omit<SandboxLimits, "address">,
    execute: (called: Called, within: SandboxLimits) => Promise<Outcome<Value>>,
  ): Promise<Outcome<Value>> {
    const run = async (key: string, called: Called) => {
      this.#checkBreaker(key, called.endpoint);
      const outcome = await execute(called, { ...limits, address: permissionFor(called.endpoint) });
      if (outcome.type === "completed") this.#breaker.record(key, false);
      else if (outcome.type === "failed" && outcome.code === "ENDPOINT_FAILED") this.#breaker.record(key, true);
      return outcome;
    };
    if (servedBy === undefined) {
      const guarded = await this.#guard(endpoint, isForeign);
      return await run(guarded.url, { endpoint: guarded, timeoutMs });
    }
    // A program of the author's decides, which fetches the requests.
    const { relay } = this.#rules;
    if (relay === undefined) throw new RunError("ENDPOINT_FAILED", "Cannot reach programs without a relay");
    const opened = relay.open({ ownerId: servedBy, name: servedNameOf(endpoint), timeoutMs });
    const own = isForeign ? { ...opened.endpoint, host: FOREIGN_HOST, isForeign } : opened.endpoint;
    try {
      // The relay answers once a program had its time.
      return await run(`serve:${servedBy}/${servedNameOf(endpoint)}`, { endpoint: own, timeoutMs: opened.timeoutMs });
    } finally {
      await opened.close();
    }
  }

  async #guard(url: string, isForeign: boolean): Promise<PinnedEndpoint> {
    try {
      const endpoint = await guardEndpoint(url, this.#rules);
      return isForeign ? { ...endpoint, host: FOREIGN_HOST, isForeign } : endpoint;
    } catch (error) {
      if (!isForeign || !(error instanceof RunError)) throw error;
      throw new RunError(error.code, `Cannot call ${FOREIGN_HOST}: only its owner may read why`);
    }
  }

  #checkBreaker(key: string, { host }: PinnedEndpoint): void {
    const pauseMs = this.#breaker.pauseMs(key);
    if (pauseMs === 0) return;
    const seconds = Math.ceil(pauseMs / 1000);
    throw new RunError(
      "ENDPOINT_FAILED",
      `Cannot call ${host}: too many runs in a row failed on it; try again in ${seconds} s`,
    );
  }
}
