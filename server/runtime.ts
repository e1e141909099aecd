import { ConfigError } from "./config.ts";

/** The oldest runtime that passes the tests: 2.5 lacks system calls, and 2.6 answers streams with empty bodies. */
const OLDEST = "2.7.14";

/** Refuses a runtime on which the service is known to fail. @throws ConfigError */
export function requireRuntime(version: string = Deno.version.deno): void {
  const [major = 0, minor = 0, patch = 0] = version.split(/[.+-]/).map(Number);
  const [leastMajor = 0, leastMinor = 0, leastPatch = 0] = OLDEST.split(".").map(Number);
  const differences = [major - leastMajor, minor - leastMinor, patch - leastPatch];
  if ((differences.find((difference) => difference !== 0) ?? 0) >= 0) return;
  throw new ConfigError(`Cannot start: Deno must be ${OLDEST} or newer, not ${version}: npm install -g deno@2.9.6`);
}
