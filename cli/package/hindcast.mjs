#!/usr/bin/env node
// Starts the command in the Deno that npm installed beside it. Node runs this file, and nothing else of the package.
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { constants, homedir } from "node:os";
import { join, resolve } from "node:path";

/**
 * The project in a folder of the user's cache: Deno takes files below node_modules for those of a package, without settings of
 * their own.
 */
function unpack() {
  const { version, build } = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8"));
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "hindcast");
  const folder = join(cache, `${version}-${build}`);
  if (existsSync(folder)) return folder;
  // Another process may do the same: the folder has its name once it is whole.
  const made = join(cache, `new-${randomUUID()}`);
  mkdirSync(cache, { recursive: true, mode: 0o700 });
  cpSync(new URL("project", import.meta.url), made, { recursive: true });
  try {
    renameSync(made, folder);
  } catch (error) {
    rmSync(made, { recursive: true });
    if (!existsSync(folder)) throw error;
  }
  return folder;
}

const root = unpack();
const deno = createRequire(import.meta.url)("deno/install_api.cjs").runInstall();
const folder = process.cwd();
// The launcher runs in the package's folder, and users mean their own.
const env = { ...process.env, INIT_CWD: folder, DATA_DIR: resolve(folder, process.env.DATA_DIR || ".data") };
const launcher = [
  "run",
  "--no-config",
  "--no-prompt",
  "--allow-env",
  "--allow-read=server/variables.txt",
  "--allow-run",
];
const child = spawn(deno, [...launcher, "cli/launch.ts", "hindcast", ...process.argv.slice(2)], {
  cwd: root,
  env,
  stdio: "inherit",
});
// A terminal sends Ctrl+C to both; other programs send a signal to this process alone.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => {
    if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
  });
}
// npx calls this file from a shell, to which alone it passes signals on: where the shell ends, a signal has ended it.
if (process.env.npm_lifecycle_event === "npx" && !process.env.npm_config_call) {
  const shell = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(watch);
    child.kill("SIGTERM");
  }, 250);
}
child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
