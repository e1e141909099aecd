/** The files of deploy/ agree with the code, and what they ask of a service and its database is asked of one. */
import { expect } from "@std/expect";
import { load, loadAll, YAML11_SCHEMA } from "js-yaml";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { COMMANDS, listSettings } from "../../cli/commands.ts";
import { openPostgres } from "../../db/client.ts";
import { readConfig } from "../../server/config.ts";
import { BACKTEST } from "../support/client.ts";
import { readPage, ROOT } from "../support/pages.ts";
import { startTestService } from "../support/service.ts";

const DOCKERFILE = await readPage("deploy/Dockerfile");
const COMPOSE = z.object({
  services: z.record(
    z.string(),
    z.object({
      image: z.string(),
      command: z.array(z.string()).default(["start"]),
      environment: z.record(z.string(), z.string()).default({}),
      stop_grace_period: z.string().optional(),
      read_only: z.boolean().default(false),
    }),
  ),
}).parse(load(await readPage("deploy/compose.yaml"), { schema: YAML11_SCHEMA }));

const probeSchema = z.object({ httpGet: z.object({ path: z.string() }) }).optional();
const containerSchema = z.object({
  args: z.array(z.string()),
  env: z.array(z.object({ name: z.string(), value: z.string() })),
  startupProbe: probeSchema,
  livenessProbe: probeSchema,
  readinessProbe: probeSchema,
});
const deploymentSchema = z.object({
  kind: z.literal("Deployment"),
  metadata: z.object({ name: z.string() }),
  spec: z.object({
    template: z.object({
      spec: z.object({ terminationGracePeriodSeconds: z.number(), containers: z.tuple([containerSchema]) }),
    }),
  }),
});
const scalerSchema = z.object({
  kind: z.literal("ScaledObject"),
  spec: z.object({
    scaleTargetRef: z.object({ name: z.string() }),
    triggers: z.tuple([z.object({ metadata: z.object({ query: z.string() }) })]),
  }),
});
const MANIFESTS = loadAll(await readPage("deploy/kubernetes.yaml"));
const DEPLOYMENTS = MANIFESTS.flatMap((manifest) => deploymentSchema.safeParse(manifest).data ?? []);
const SCALER = scalerSchema.parse(MANIFESTS.at(-1));

/** The lame-duck time by default, and what the service takes at most after it. */
const END_SECONDS = readConfig({ DATA_DIR: "/data" }).lameDuckSeconds + 5;

Deno.test("the image starts the commands with the flags and the runtime of the tasks", async () => {
  const { tasks } = z.object({ tasks: z.record(z.string(), z.union([z.string(), z.object({ command: z.string() })])) })
    .parse(JSON.parse(await readPage("deno.json")));
  const entry = z.array(z.string()).parse(JSON.parse(/^ENTRYPOINT (.*)$/m.exec(DOCKERFILE)![1]!));
  for (const name of ["start", "worker"]) {
    expect(tasks[name]).toMatchObject({ command: [...entry.slice(2), name].join(" ") });
  }
  expect(DOCKERFILE).toContain(`npm install --global deno@${Deno.version.deno}\n`);
  for (const name of ["start", "worker", "admin", "hindcast"] as const) {
    expect(DOCKERFILE).toContain(` ${COMMANDS[name].script[0]}`);
  }
});

Deno.test("the image has each file that the commands import, and neither tests nor builds of this machine", async () => {
  const lines = (await readPage("deploy/Dockerfile.dockerignore")).trim().split("\n");
  const kept = lines.filter((line) => line.startsWith("!")).map((line) => line.slice(1));
  const scripts = ["cli/launch.ts", ...Object.values(COMMANDS).map(({ script: [path] }) => path)];
  const graphs = await Promise.all(scripts.map(async (script) => {
    const args = ["info", "--json", "--node-modules-dir=none", script];
    const { stdout } = await new Deno.Command(Deno.execPath(), { args, cwd: ROOT }).output();
    const { modules } = z.object({ modules: z.array(z.object({ specifier: z.string() })) })
      .parse(JSON.parse(new TextDecoder().decode(stdout)));
    return modules.map(({ specifier }) => specifier).filter((url) => url.startsWith("file:"));
  }));
  const imported = new Set(graphs.flat().map((url) => fileURLToPath(url).slice(ROOT.length)));
  expect(imported.size).toBeGreaterThan(500);
  const missing = [...imported].filter((path) => !kept.includes(path.split("/")[0]!));
  expect(missing).toEqual([]);
  expect(kept).not.toContain("tests");
  for (const path of kept) expect((await Deno.stat(`${ROOT}${path}`)).size).toBeGreaterThan(0);
});

Deno.test("each variable is a setting, and each process has the time to end", () => {
  const settings = listSettings();
  for (const { image, command, environment, stop_grace_period, read_only } of Object.values(COMPOSE.services)) {
    if (image !== "hindcast") continue;
    expect([command[0]! in COMMANDS, read_only]).toEqual([true, true]);
    expect(Object.keys(environment).filter((name) => !settings.includes(name))).toEqual([]);
    expect(parseInt(stop_grace_period ?? "")).toBeGreaterThan(END_SECONDS);
  }
  expect(DEPLOYMENTS.map(({ metadata }) => metadata.name)).toEqual(["hindcast-api", "hindcast-worker"]);
  expect(SCALER.spec.scaleTargetRef.name).toBe("hindcast-worker");
  for (const { spec: { template: { spec } } } of DEPLOYMENTS) {
    const { args, env } = spec.containers[0];
    expect(args[0]! in COMMANDS).toBe(true);
    expect(env.map(({ name }) => name).filter((name) => !settings.includes(name))).toEqual([]);
    expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(END_SECONDS);
  }
});

Deno.test("a service answers the probes, and the query of the scaler counts the jobs that wait", async () => {
  const service = await startTestService("PostgreSQL", { WORKERS: "0" });
  const user = await service.user();
  const probed = DEPLOYMENTS.flatMap(({ spec }) => {
    const { startupProbe, livenessProbe, readinessProbe } = spec.template.spec.containers[0];
    return [startupProbe, livenessProbe, readinessProbe].flatMap((probe) => probe?.httpGet.path ?? []);
  });
  expect(probed).toHaveLength(3);
  const [checked] = /\/api\/health\/\w+/.exec(DOCKERFILE)!;
  for (const path of [...probed, checked]) expect([path, (await user.get(path)).status]).toEqual([path, 200]);

  const database = await openPostgres(service.databaseUrl, 1);
  const [{ metadata: { query } }] = SCALER.spec.triggers;
  const count = async () => {
    const rows: unknown = await database.db.execute(query);
    return Number(z.tuple([z.object({ count: z.coerce.number() })]).parse(rows)[0].count);
  };
  const before = await count();
  for (let n = 0; n < 3; n++) {
    expect((await user.send("POST", "/api/backtests", { backtest: BACKTEST })).status).toBe(202);
  }
  expect(await count()).toBe(before + 3);
  await database.close();
  await service.close();
});
