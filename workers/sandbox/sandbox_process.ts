import { FrameFault } from "./frame_reader.ts";
import type { Deciding, Interrupt } from "./decision_calls.ts";
import { DecisionWatch, LINE_AFTER } from "./decision_watch.ts";
import { encodeFrame } from "./frames.ts";
import type { FailureCode, Outcome } from "../common/outcome.ts";
import { AnswerFault, ERRORS_CHARS_MAX, TALK } from "./answer_bounds.ts";
import { AnswerReader } from "./answer_reader.ts";
import { ReportedLog } from "./contracts/log_bounds.ts";
import { canInterrupt, endInterrupted, INTERRUPT_MS_MAX } from "./late_end.ts";
import type { SandboxLimits } from "./sandbox_limits.ts";
import { candleBytes, type FromChild, isWithin, RELOADS_MAX, type SandboxJob } from "./task.ts";

// A process that says nothing of its memory for this many seconds in a row, in which we could have heard it, is ended.
const SILENT_SECONDS_MAX = 15;

type CountKill = (reason: "stopped" | "deadline" | "memory" | "unresponsive") => void;

/** One child process and its watchers. */
export class SandboxProcess<Value extends object> {
  readonly #child: Deno.ChildProcess;
  readonly #limits: SandboxLimits;
  readonly #countKill: CountKill;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #ended = Promise.withResolvers<Outcome<Value>>();
  #candlesDone = 0;
  #decided = 0;
  #deciding: Deciding = { calls: 0, preparing: 0, candle: 0, place: 0 };
  /** Why it is to end, once it was asked to. */
  #late: string | null = null;
  #residentBytesMax: number;
  /** One after the other. */
  readonly #reloads: Promise<void>[] = [];
  #deadline: ReturnType<typeof setTimeout> | undefined;
  /** Nothing that its process still says counts. */
  #isOver = false;
  #begun = { atMs: 0, cpuMs: 0 };
  #computedMs = 0;
  #silentSeconds = 0;
  #errors = "";
  readonly #log = new ReportedLog();
  readonly #answers: AnswerReader<Value>;
  readonly #decision: DecisionWatch;
  /** The newest of its job. */
  job: SandboxJob;

  /**
   * @param decisionMsMax The longest that a decision may take.
   * @param countKill Told of each kill.
   */
  constructor(
    child: Deno.ChildProcess,
    job: SandboxJob,
    limits: SandboxLimits,
    { decisionMsMax, countKill }: { readonly decisionMsMax: number; readonly countKill: CountKill },
  ) {
    this.#limits = limits;
    this.#countKill = countKill;
    this.job = job;
    this.#decision = new DecisionWatch(job, decisionMsMax);
    this.#residentBytesMax = limits.memoryBytesMax + candleBytes(job);
    this.#child = child;
    this.#input = this.#child.stdin.getWriter();
    this.#answers = new AnswerReader(this.#child.stdout, job);
  }

  /** The mark of the place where its code was. */
  get place(): number {
    return this.#deciding.place;
  }

  /** Writes the job and waits until all of it is gone. Of a job that has completed, who keeps spare processes waits for the rest. */
  async run(): Promise<Outcome<Value>> {
    const { signal, spares } = this.#limits;
    const watch = setInterval(() => this.#countSilence(), 1000);
    const stop = () => {
      this.#countKill("stopped");
      this.#ended.resolve({ type: "stopped", candlesDone: this.#candlesDone });
    };
    signal.addEventListener("abort", stop);
    const listening = this.#listen();
    const errors = this.#collectErrors();
    void this.#write(this.job);
    let hasCompleted = false;
    try {
      const outcome = await this.#ended.promise;
      hasCompleted = outcome.type === "completed";
      return outcome;
    } finally {
      this.#isOver = true;
      clearTimeout(this.#deadline);
      clearInterval(watch);
      signal.removeEventListener("abort", stop);
      const gone = this.#end(listening, errors);
      await (hasCompleted && spares !== undefined ? spares.leave(gone) : gone);
    }
  }

  #renewDeadline(): void {
    if (this.#late !== null) return;
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(() => this.#endByClock(), this.#limits.deadlineMs);
  }

  /** Ends a job that is due. Where it has had little of its processor time, the machine was too busy, and its code is not at fault. */
  #endByClock(): void {
    const { deadlineMs, cpuMsMax = 0 } = this.#limits;
    if (this.#computedMs >= cpuMsMax / 2) return this.#endLate(deadlineMs);
    const stuck = this.#decision.explainDue(cpuMsMax);
    if (stuck !== null) return this.#giveUp(stuck);
    this.#countKill("deadline");
    this.#ended.resolve({ type: "stopped", candlesDone: this.#candlesDone });
  }

  #endLate(limitMs: number): void {
    this.#giveUp(`Cannot finish within ${limitMs / 1000} s: ${this.#decided} candles were done`);
  }

  /** Ends code that takes too long. Python is asked to stop first, and says where it was. */
  #giveUp(message: string): void {
    if (this.#late !== null) return;
    this.#late = message;
    const kill = () => this.#kill("deadline", "STRATEGY_TIMED_OUT", message);
    if (!canInterrupt(this.job)) return kill();
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(kill, INTERRUPT_MS_MAX);
    void this.#write({ kind: "interrupt" });
  }

  #checkTime(cpuMs: number): void {
    const { cpuMsMax = Infinity, deadlineMs } = this.#limits;
    const passedMs = performance.now() - this.#begun.atMs;
    this.#computedMs = Math.min(passedMs, cpuMs - this.#begun.cpuMs);
    if (this.#computedMs > cpuMsMax) this.#endLate(cpuMsMax);
    const stuck = this.#decision.check(this.#deciding, cpuMs);
    const late = stuck ?? (passedMs > deadlineMs * LINE_AFTER ? this.#decision.explainDue(cpuMsMax) : null);
    if (late !== null) this.#giveUp(late);
  }

  #kill(reason: "deadline" | "memory" | "unresponsive", code: FailureCode, message: string): void {
    this.#countKill(reason);
    this.#fail(code, message);
  }

  #fail(code: FailureCode, message: string): void {
    const log = this.#log.lines;
    this.#ended.resolve({ type: "failed", code, message, ...(log.length > 0 && { log }) });
  }

  async #write(job: SandboxJob | Interrupt): Promise<void> {
    try {
      for (const piece of encodeFrame(job)) await this.#input.write(piece);
    } catch {
      // The process has ended: #listen() finds out why.
    }
  }

  /** Reads messages until standard output is closed: then no process is left that could write to it. */
  async #listen(): Promise<void> {
    const answers = this.#answers;
    try {
      for (let message = await answers.next(); message !== null; message = await answers.next()) this.#receive(message);
      await this.#explainDeath();
    } catch (error) {
      if (error instanceof AnswerFault || error instanceof FrameFault) this.#refuse(error);
      this.#ended.resolve({ type: "broken", message: `its process cannot be heard: ${describeError(error)}` });
      await answers.cancel();
    }
  }

  /** Ends a process that sends what ours never would: the code that it runs has taken it over. */
  #refuse({ message }: AnswerFault | FrameFault): void {
    const code = ["fetch", "remote", "remote_markets"].includes(this.job.kind) ? "ENDPOINT_FAILED" : "STRATEGY_FAILED";
    this.#kill("unresponsive", code, `Cannot take what its process sends: ${message}`);
  }

  #receive(message: FromChild<Value>): void {
    if (this.#isOver) return;
    switch (message.type) {
      case "memory":
        this.#silentSeconds = 0;
        // Its first message: the start of the process takes none of the job's time.
        if (this.#deadline === undefined) {
          this.#renewDeadline();
          this.#begun = { atMs: performance.now(), cpuMs: message.cpuMs };
        }
        this.#checkMemory(message.residentBytes);
        this.#checkTime(message.cpuMs);
        return;
      case "progress":
        this.#candlesDone = message.candlesDone;
        this.#decided = Math.max(message.candlesDone, message.decided);
        this.#deciding = message.deciding;
        this.#limits.onProgress(message);
        return;
      case "trial":
        this.#beginNext();
        this.#limits.onTrial?.(message.outcome);
        return;
      case "log":
        this.#log.take(message);
        return;
      case "path":
        this.#beginNext();
        this.#limits.onPath?.(message.outcome);
        return;
      case "lookback":
        this.#reloads.push(this.#reload(message.candles, this.#reloads.at(-1)));
        return;
      default:
        if (this.#late === null) return this.#ended.resolve(message);
        this.#countKill("deadline");
        this.#ended.resolve(endInterrupted(message, this.#late));
    }
  }

  #beginNext(): void {
    this.#renewDeadline();
    this.#candlesDone = this.#decided = 0;
  }

  async #reload(lookbackCandles: number, before: Promise<void> | undefined): Promise<void> {
    const { reload } = this.#limits;
    if (reload === undefined || this.#reloads.length >= RELOADS_MAX) {
      return this.#refuse(new AnswerFault(`it asks for ${lookbackCandles} candles before its range`));
    }
    try {
      await before;
      const job = this.job = await reload(lookbackCandles);
      this.#residentBytesMax += candleBytes(job);
      this.#answers.widen(job);
      await this.#write(job);
    } catch (error) {
      this.#ended.reject(error);
    }
  }

  async #explainDeath(): Promise<void> {
    const { code, signal } = await this.#child.status;
    if (/out of memory|heap limit|Cannot allocate/i.test(this.#errors)) {
      this.#fail("STRATEGY_OUT_OF_MEMORY", `Cannot go on after ${this.#decided} candles: out of memory`);
    }
    if (/invalid (?:size|array length|table size)/.test(this.#errors)) {
      const message = `Cannot go on after ${this.#decided} candles: a list, a text or a table is longer than may be`;
      this.#fail("STRATEGY_OUT_OF_MEMORY", message);
    }
    // The runtime's own parser has no other answer to 60,000 parentheses.
    if (/overflowed its stack/.test(this.#errors)) {
      this.#fail("STRATEGY_FAILED", "Cannot read the strategy: its parts are nested too deeply");
    }
    const end = signal === null ? `with code ${code}` : `by ${signal}`;
    this.#ended.resolve({ type: "broken", message: `its process ended ${end}: ${this.#errors.trim()}` });
  }

  async #collectErrors(): Promise<void> {
    let chars = 0;
    for await (const text of this.#child.stderr.pipeThrough(new TextDecoderStream())) {
      this.#errors = (this.#errors + text).slice(-ERRORS_CHARS_MAX);
      chars += text.length;
      if (chars > TALK.bytes) this.#refuse(new AnswerFault(`its errors have more than ${TALK.bytes} characters`));
    }
  }

  #checkMemory(residentBytes: number): void {
    if (isWithin(residentBytes, this.#residentBytesMax)) return;
    const limit = `${Math.floor(this.#residentBytesMax / 2 ** 20)} MiB`;
    this.#kill(
      "memory",
      "STRATEGY_OUT_OF_MEMORY",
      `Cannot use more than ${limit} of memory: ${this.#decided} candles were done`,
    );
  }

  /** Seconds in which this process itself was busy count as one, so that it never mistakes its own silence for the other's. */
  #countSilence(): void {
    this.#silentSeconds++;
    if (this.#silentSeconds <= SILENT_SECONDS_MAX) return;
    this.#kill(
      "unresponsive",
      "STRATEGY_TIMED_OUT",
      `Cannot go on: its process said nothing for ${SILENT_SECONDS_MAX} s, so nobody knows how much memory it uses`,
    );
  }

  /** Kills the process and waits until it is gone. */
  async #end(listening: Promise<void>, errors: Promise<void>): Promise<void> {
    try {
      this.#child.kill("SIGKILL");
    } catch {
      // It has already ended.
    }
    // npm's `deno` is a script, and killing it leaves the real process: that one ends itself when its input ends.
    await this.#input.abort().catch(() => {});
    await Promise.all([this.#child.status, listening, errors, ...this.#reloads]);
  }
}

/** Describes a fault in words. */
export function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
