import { plotsPart } from "../../db/codec/plots_part.ts";
import { resultParts } from "../../db/codec/result_parts.ts";
import { drawSparkline } from "../../db/codec/sparkline.ts";
import { encodeParts } from "../../db/result_chunks.ts";
import type { Candles } from "../../engine/candles.ts";
import type { RunProgress } from "../../engine/control.ts";
import type { EgressRules } from "../egress/guard.ts";
import { NOT_BEGUN, type Outcome } from "../common/outcome.ts";
import type {
  EncodedPortfolio,
  EncodedRun,
  EncodedSeries,
  Plot,
  PortfolioTask,
  RunTask,
  SimulatedRun,
} from "../common/protocol.ts";
import { isJitless, refuseScript, type ScriptModes } from "../scripts/script_mode.ts";
import { runInSandbox, type SandboxLimits } from "../sandbox/process.ts";
import type { Spares } from "../sandbox/spares.ts";
import { encodeMarkets } from "./encode_markets.ts";
import {
  SANDBOX_BYTES_MAX,
  type SandboxTask,
  type ScriptJob,
  type ScriptLanguage,
  type ScriptMarketsJob,
  type ValueOf,
  type WasmJob,
  type WasmMarketsJob,
} from "../sandbox/task.ts";
import { traceStep } from "../common/telemetry.ts";
import { LONG_RUN_MS, Pool, type RunLimits } from "./pool.ts";
import { Slots } from "./slots.ts";
import { type RemoteMarketsRun, type RemoteRun, RemoteRunner } from "./remote_runner.ts";

const PROGRESS_MS = 500;

/** A user's code over many markets. */
type MarketsJob = WasmMarketsJob | ScriptMarketsJob;

/** A run, by the kind of its strategy. */
export type Run =
  | { readonly kind: "builtin"; readonly task: RunTask }
  | { readonly kind: "code"; readonly job: WasmJob | ScriptJob }
  | { readonly kind: "remote"; readonly run: RemoteRun };

/** A run over many markets, by the kind of its strategy. */
export type PortfolioRun =
  | { readonly kind: "builtin"; readonly task: PortfolioTask }
  | { readonly kind: "code"; readonly job: MarketsJob }
  | { readonly kind: "remote"; readonly run: RemoteMarketsRun };

/** A run that is of code, or turned out to be none. */
type AnyRun<Job> = { readonly kind: "code"; readonly job: Job } | { readonly kind: "builtin" | "remote" };

/** Loads a run again with more candles before the ranges of its markets, as Reload. */
type ReloadMarkets = (lookbackCandles: number) => Promise<PortfolioRun>;

/** Loads a run again with more candles before its range: the warm-up that a user's code turned out to ask for. */
type Reload = (lookbackCandles: number) => Promise<Run>;

/** Runs our own code in a warm worker, and foreign code in a process of its own. */
export class Runner {
  readonly #pool: Pool;
  readonly #remote: RemoteRunner;
  readonly #slots: Slots;
  readonly #runsMax: number;
  readonly #scripts: ScriptModes;
  readonly #spares: Spares | undefined;
  /** Start times of the runs in sandbox processes, the oldest first. */
  readonly #begun: number[] = [];

  /**
   * @param runsMax How many built-in runs compute at once, and how many foreign ones.
   * @param spares Processes for users' code; the caller closes them. Absent: each run starts its own.
   */
  constructor(runsMax: number, egress: EgressRules, scripts: ScriptModes, spares?: Spares) {
    this.#scripts = scripts;
    this.#spares = spares;
    this.#pool = new Pool(runsMax);
    this.#remote = new RemoteRunner(egress);
    this.#slots = new Slots(runsMax);
    this.#runsMax = runsMax;
  }

  /**
   * How many runs to hold at once: more than can compute only while all are quick. Otherwise foreign runs would be taken, wait in
   * vain behind a long one, go back to the front of the queue and be taken again.
   */
  get runsWanted(): number {
    const [oldest = Infinity] = this.#begun;
    return performance.now() - oldest > LONG_RUN_MS ? this.#runsMax : this.#pool.runsWanted;
  }

  /**
   * Executes a run as soon as a slot is free.
   *
   * @param reload Absent: the run makes do with the candles that it has.
   * @throws {RunError} When a remote run's endpoint may not be called, or scripts may not run; those of `reload`.
   */
  async run(run: Run, limits: RunLimits, reload?: Reload): Promise<Outcome<EncodedRun>> {
    if (run.kind === "builtin") return await this.#pool.run(run.task, limits);
    const language = run.kind === "code" && run.job.kind === "script" ? run.job.language : null;
    return await this.#inSandbox(
      language,
      limits,
      async (within) =>
        run.kind === "code"
          ? await runCode(run.job, within, reload, encode)
          : await encode(await this.#remote.run(run.run, within), run.run),
    );
  }

  /** Runs foreign code as soon as a slot is free. @param language Of a script; null: it is none. */
  async #inSandbox<Value extends object>(
    language: ScriptLanguage | null,
    limits: RunLimits,
    execute: (within: SandboxLimits) => Promise<Outcome<Value>>,
  ): Promise<Outcome<Value>> {
    const refused = language === null ? null : await refuseScript(this.#scripts, language);
    if (refused !== null) throw refused;
    if (!await this.#slots.take(limits)) return NOT_BEGUN;
    const begun = performance.now();
    this.#begun.push(begun);
    try {
      return await execute({
        deadlineMs: limits.deadlineMs,
        memoryBytesMax: SANDBOX_BYTES_MAX,
        onProgress: throttle(limits.onProgress),
        signal: limits.signal,
        jitless: language !== null && isJitless(this.#scripts, language),
        spares: this.#spares,
      });
    } finally {
      this.#begun.splice(this.#begun.indexOf(begun), 1);
      this.#slots.release();
    }
  }

  /** Executes a run over many markets as soon as a slot is free. @throws {RunError} As `run`. */
  async runPortfolio(
    run: PortfolioRun,
    limits: RunLimits,
    reload?: ReloadMarkets,
  ): Promise<Outcome<EncodedPortfolio>> {
    if (run.kind === "builtin") return await this.#pool.runPortfolio(run.task, limits);
    if (run.kind === "remote") {
      const { run: remote } = run;
      return await this.#inSandbox(
        null,
        limits,
        async (within) => await encodeMarkets(await this.#remote.runMarkets(remote, within), remote),
      );
    }
    const { job } = run;
    const language = job.kind === "script_markets" ? job.language : null;
    return await this.#inSandbox(language, limits, (within) => runCode(job, within, reload, encodeMarkets));
  }

  /** Ends the warm workers; sandbox processes end by their signals. */
  close(): void {
    this.#pool.close();
  }
}

/** Runs a user's code in a process, loading it again with the warm-up that it asks for. */
async function runCode<Job extends WasmJob | ScriptJob | MarketsJob, Value extends object>(
  job: Job,
  within: SandboxLimits,
  reload: ((lookbackCandles: number) => Promise<AnyRun<Job>>) | undefined,
  encode: (outcome: Outcome<ValueOf<Job>>, task: Job["task"]) => Promise<Outcome<Value>>,
): Promise<Outcome<Value>> {
  let { task } = job;
  const reloadJob = reload && (async (lookbackCandles: number) => {
    const run = await reload(lookbackCandles);
    if (run.kind !== "code") throw new TypeError(`Cannot continue a run of code as one of kind ${run.kind}`);
    task = run.job.task;
    return run.job;
  });
  const outcome = await runInSandbox(job, { ...within, ...(reloadJob && { reload: reloadJob }) });
  return await encode(outcome, task);
}

/** Encodes a result of foreign code here, because bytes that its process encodes could be anything. */
async function encode(
  outcome: Outcome<SimulatedRun>,
  { candles, firstIndex, initialBalance }: Pick<SandboxTask, "candles" | "firstIndex" | "initialBalance">,
): Promise<Outcome<EncodedRun>> {
  const encodePlots = (plots: readonly Plot[] = []) =>
    encodeSeries(plots, candles, firstIndex, outcome.type === "completed");
  if (outcome.type === "failed") return { ...outcome, series: await encodePlots(outcome.plots) };
  if (outcome.type !== "completed") return outcome;
  const { result: { metrics, undefinedMetrics, bounds, notes, ...columns }, integrity, log = [] } = outcome;
  const result = { metrics, undefinedMetrics, bounds, notes };
  return await traceStep("encode", async () => {
    const chunks = await encodeParts(resultParts(columns, candles, firstIndex));
    const series = await encodePlots(outcome.plots);
    return {
      type: "completed",
      result,
      integrity,
      log,
      chunks: [...chunks, ...series.chunks],
      plots: series.plots,
      sparkline: drawSparkline(columns.equity, initialBalance),
    };
  });
}

/** Encodes the plots of a run's range, without its lookback. */
async function encodeSeries(
  plots: readonly Plot[],
  { time, low, high }: Candles,
  firstIndex: number,
  isWhole: boolean,
): Promise<EncodedSeries> {
  const cut = (values: Float64Array) => values.subarray(firstIndex);
  const ofRange = plots.map(({ values, ...plot }) => ({ ...plot, values: cut(values) }));
  const made = plotsPart(ofRange, { time: cut(time), low: cut(low), high: cut(high) }, isWhole);
  return made === null ? { plots: [], chunks: [] } : { plots: made.plots, chunks: await encodeParts([made.part]) };
}

/** Lets at most one call through in PROGRESS_MS. */
function throttle(report: (progress: RunProgress) => void): (progress: RunProgress) => void {
  let last = performance.now();
  return (progress) => {
    const now = performance.now();
    if (now - last < PROGRESS_MS) return;
    last = now;
    report(progress);
  };
}
