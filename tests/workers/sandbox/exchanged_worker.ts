import { dirname, join } from "node:path";
import type { Outcome } from "../../../workers/common/outcome.ts";
import type { SandboxJob, ValueOf } from "../../../workers/sandbox/task.ts";

const ROOT = new URL("../../../", import.meta.url).pathname;
// The code of the sandbox's process.
const CODE = [
  "engine",
  "research",
  "workers/sandbox",
  "workers/common/outcome.ts",
  "workers/common/protocol.ts",
  "workers/common/telemetry.ts",
];

/** A change of one of the sandbox's files: this text becomes that. */
export type Edit = readonly [path: string, from: string, to: string];

// The sandbox's own Workers answer with frames.
const FRAMED = `import { encodeFrame } from "../frames.ts"; const post = self.postMessage.bind(self);
  self.postMessage = (outcome) => post(encodeFrame(outcome));`;

/** The limits of an exchanged Worker's process, and what differs in its code. */
export interface ExchangeOptions {
  readonly deadlineMs?: number;
  readonly cpuMsMax?: number;
  readonly memoryBytesMax?: number;
  readonly edits?: readonly Edit[];
}

/** Runs a validation in a copy of the sandbox with other code as its Worker. The caller removes the folder of the copy. */
export async function runExchanged(
  folder: string,
  workerSource: string,
  { parametersJson = "{}", ...options }: ExchangeOptions & { readonly parametersJson?: string } = {},
): Promise<Outcome<ValueOf<SandboxJob>>> {
  const job = { kind: "validate", module: new Uint8Array(0), parametersJson, candlesMin: 1 } as const;
  return await runJobExchanged(folder, workerSource, job, options);
}

/** The same for any job of a module. */
export async function runJobExchanged(
  folder: string,
  workerSource: string,
  job: SandboxJob,
  { deadlineMs = 300_000, cpuMsMax = deadlineMs, memoryBytesMax = 2 ** 29, edits = [] }: ExchangeOptions = {},
): Promise<Outcome<ValueOf<SandboxJob>>> {
  const code = join(folder, "code");
  copyCode(code);
  await Deno.writeTextFile(join(code, "workers/sandbox/wasm/worker.ts"), FRAMED + workerSource);
  for (const [path, from, to] of edits) await edit(join(code, path), from, to);
  const runner: typeof import("../../../workers/sandbox/process.ts") = await import(
    join(code, "workers/sandbox/process.ts")
  );
  const { signal } = new AbortController();
  return await runner.runInSandbox(job, { deadlineMs, cpuMsMax, memoryBytesMax, onProgress: () => {}, signal });
}

async function edit(path: string, from: string, to: string): Promise<void> {
  const text = await Deno.readTextFile(path);
  if (!text.includes(from)) throw new Error(`${path} does not contain ${JSON.stringify(from)}`);
  await Deno.writeTextFile(path, text.replace(from, to));
}

/** Copies the code of the sandbox's process. */
export function copyCode(to: string): void {
  for (const path of CODE) copy(join(ROOT, path), join(to, path));
}

function copy(from: string, to: string): void {
  Deno.mkdirSync(dirname(to), { recursive: true });
  if (Deno.statSync(from).isFile) Deno.copyFileSync(from, to);
  else for (const { name } of Deno.readDirSync(from)) copy(join(from, name), join(to, name));
}
