import { expect } from "@std/expect";
import { z } from "zod";
import { listSettings, readSettings, setting, SettingError } from "../../server/settings.ts";

const count = z.string().regex(/^\d+$/, { error: "must be a number" }).transform(Number);
const schema = z.object({
  port: setting("PORT", count.default(80), "Port."),
  limits: z.object({
    runsMax: setting("RUNS_MAX", count.optional(), "Runs."),
    token: setting("TOKEN", z.string().min(8, { error: "must be longer" }).optional(), "Token.", { isSecret: true }),
  }),
  hosts: setting("HOSTS", z.string().default("").transform((text) => text.split(",").filter(Boolean)), "Hosts."),
  cores: setting("CORES", count.default(4), "Cores.", { unset: "the number of cores" }),
});

Deno.test("readSettings() reads each variable into its field, and an empty value as unset", () => {
  expect(readSettings(schema, { PORT: "", RUNS_MAX: "3", HOSTS: "a,b" })).toEqual({
    port: 80,
    limits: { runsMax: 3 },
    hosts: ["a", "b"],
    cores: 4,
  });
});

Deno.test("readSettings() names the variable and its rule, and quotes the value unless it is a secret", () => {
  expect(() => readSettings(schema, { RUNS_MAX: "x" })).toThrow(new SettingError('RUNS_MAX must be a number, not "x"'));
  expect(() => readSettings(schema, { TOKEN: "hush" })).toThrow(new SettingError("TOKEN must be longer"));
});

Deno.test("listSettings() lists the variables in order with their defaults", () => {
  expect(listSettings(schema).map(({ variable, defaultText }) => [variable, defaultText])).toEqual([
    ["PORT", "`80`"],
    ["RUNS_MAX", "none"],
    ["TOKEN", "none"],
    ["HOSTS", "none"],
    ["CORES", "the number of cores"],
  ]);
});
