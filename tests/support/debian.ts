/**
 * Installs what `deno task test:debian` needs of Debian, once and before its files start: they run side by side, and apt-get serves
 * one at a time.
 */

/** Debian's packages, and the tests that need them. */
export const DEBIAN_PACKAGES: Readonly<Record<string, readonly string[]>> = {
  "tests/cli/shells.ts": ["fish", "zsh"],
  "tests/client/python_frames.ts": ["python3-ipykernel", "python3-matplotlib", "python3-pandas", "python3-venv"],
  "tests/docs/pandas.ts": ["python3-pandas"],
  "tests/docs/pgbouncer.ts": ["pgbouncer"],
  "tests/docs/prometheus.ts": ["prometheus"],
  "tests/docs/proxy.ts": ["caddy", "nginx-light"],
  "tests/docs/systemd.ts": ["systemd"],
  "tests/docs/research_in_python.ts": ["python3-numpy", "python3-scipy"],
  "tests/support/debian_packages.ts": ["python3"],
  "tests/strategies/market_toolchains.ts": ["clang", "libstd-rust-dev-wasm32", "lld", "rustc"],
  "tests/strategies/toolchains.ts": ["clang", "libstd-rust-dev-wasm32", "lld", "rustc"],
};

const LOCK_SECONDS_MAX = 600;
const ENVIRONMENT = { DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C", PATH: "/usr/sbin:/usr/bin:/sbin:/bin" };

/** @returns What a program of Debian's printed, on both outputs. */
async function run(program: string, args: readonly string[]): Promise<{ success: boolean; text: string }> {
  const { success, stdout, stderr } = await new Deno.Command(program, { args: [...args], env: ENVIRONMENT }).output();
  return { success, text: new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr) };
}

/**
 * Runs apt-get. Another one may hold any of three locks, and apt itself waits for dpkg's alone.
 *
 * @param waitForLock Waits before the next try.
 * @throws Error with all that apt-get printed, after LOCK_SECONDS_MAX where it is the lock.
 */
export async function runApt(args: readonly string[], waitForLock = waitASecond): Promise<void> {
  const end = Date.now() + LOCK_SECONDS_MAX * 1_000;
  for (;;) {
    const { success, text } = await run("apt-get", ["-o", `DPkg::Lock::Timeout=${LOCK_SECONDS_MAX}`, ...args]);
    if (success) return;
    const isLocked = /Could not get lock|Unable to lock/.test(text);
    if (!isLocked || Date.now() > end) throw new Error(`Cannot run apt-get ${args.join(" ")}:\n${text}`);
    await waitForLock();
  }
}

function waitASecond(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1_000));
}

/**
 * Installs the packages that are missing.
 *
 * @throws Error with the command to run when this does not run as root.
 */
export async function installDebianPackages(names: readonly string[]): Promise<void> {
  const { text } = await run("dpkg-query", ["--show", "--showformat=${Package} ${db:Status-Status}\n", ...names]);
  const installed = new Set(text.split("\n"));
  const missing = names.filter((name) => !installed.has(`${name} installed`));
  if (missing.length === 0) return;
  const install = ["install", "--yes", "--no-install-recommends", ...missing];
  if (Deno.uid() !== 0) {
    throw new Error(
      `Cannot install Debian's packages without being root. Run, as root: apt-get update && apt-get ${
        install.join(" ")
      }`,
    );
  }
  await runApt(["update"]);
  await runApt(install);
}
