import { EndpointBreaker } from "../egress/breaker.ts";
import { type EgressRules, guardEndpoint, permissionFor } from "../egress/guard.ts";
import { type Outcome, RunError } from "../common/outcome.ts";
import type { PinnedEndpoint, RemoteMarketsTask, RemoteTask } from "../common/remote_task.ts";
import { runInSandbox, type SandboxLimits } from "../sandbox/process.ts";
import type { SandboxMarkets, SandboxRun } from "../sandbox/task.ts";

/** A task before its endpoint is resolved. */
type Unresolved<Task> = Omit<Task, "endpoint"> & {
  readonly endpoint: string;
  /** Another user's: only its owner may read its address. */
  readonly isForeign?: boolean;
};

/** A remote run over one market, and over many. */
export type RemoteRun = Unresolved<RemoteTask>;
export type RemoteMarketsRun = Unresolved<RemoteMarketsTask>;

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
    const { isForeign: _isForeign, ...more } = run;
    return await this.#call(
      run,
      limits,
      (endpoint, within) => runInSandbox({ kind: "remote", task: { ...more, endpoint } }, within),
    );
  }

  /** The same over many markets. @throws {RunError} As `run`. */
  async runMarkets(
    run: RemoteMarketsRun,
    limits: Omit<SandboxLimits, "address">,
  ): Promise<Outcome<SandboxMarkets>> {
    const { isForeign: _isForeign, ...more } = run;
    return await this.#call(
      run,
      limits,
      (endpoint, within) => runInSandbox({ kind: "remote_markets", task: { ...more, endpoint } }, within),
    );
  }

  async #call<Value extends object>(
    { endpoint: url, isForeign = false }: { readonly endpoint: string; readonly isForeign?: boolean },
    limits: Omit<SandboxLimits, "address">,
    execute: (endpoint: PinnedEndpoint, within: SandboxLimits) => Promise<Outcome<Value>>,
  ): Promise<Outcome<Value>> {
    const endpoint = await this.#guard(url, isForeign);
    this.#checkBreaker(endpoint);
    const outcome = await execute(endpoint, { ...limits, address: permissionFor(endpoint) });
    if (outcome.type === "completed") this.#breaker.record(endpoint.url, false);
    else if (outcome.type === "failed" && outcome.code === "ENDPOINT_FAILED") this.#breaker.record(endpoint.url, true);
    return outcome;
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

  #checkBreaker({ url, host }: PinnedEndpoint): void {
    const pauseMs = this.#breaker.pauseMs(url);
    if (pauseMs === 0) return;
    const seconds = Math.ceil(pauseMs / 1000);
    throw new RunError(
      "ENDPOINT_FAILED",
      `Cannot call ${host}: too many runs in a row failed on it; try again in ${seconds} s`,
    );
  }
}
