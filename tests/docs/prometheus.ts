/** Debian's Prometheus reads a service by the files of deploy/: `deno task test:debian`. */
import { expect } from "@std/expect";
import { z } from "zod";
import { BACKTEST } from "../support/client.ts";
import { freePort } from "../support/free_port.ts";
import { readPage, ROOT } from "../support/pages.ts";
import { startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";

const CONFIGURATION = "deploy/prometheus.yaml";
const answerSchema = z.object({
  status: z.literal("success"),
  data: z.object({ result: z.array(z.object({ value: z.tuple([z.number(), z.string()]) })) }),
});
const dashboardSchema = z.object({
  panels: z.array(z.object({ title: z.string(), targets: z.array(z.object({ expr: z.string() })) })),
});

/** Five minutes in which nothing is right, as `promtool test rules` reads them. */
const FIRING = `
rule_files: [${ROOT}deploy/alerts.yaml]
evaluation_interval: 1m
tests:
  - interval: 1m
    input_series:
      - { series: 'up{job="hindcast", instance="gone"}', values: '0x40' }
      - { series: 'up{job="hindcast", instance="silent"}', values: '1x40' }
      - { series: 'hindcast_queue_age{instance="api"}', values: '0+60x40' }
      - { series: 'hindcast_backtest_duration_count{hindcast_outcome="broken"}', values: '0+1x40' }
      - { series: 'http_server_request_duration_count{http_response_status_code="200"}', values: '0+90x40' }
      - { series: 'http_server_request_duration_count{http_response_status_code="503"}', values: '0+10x40' }
      - { series: 'http_server_request_duration_bucket{http_request_method="POST",http_route="/api/backtests",le="1"}', values: '0+1x40' }
      - { series: 'http_server_request_duration_bucket{http_request_method="POST",http_route="/api/backtests",le="5"}', values: '0+9x40' }
      - { series: 'http_server_request_duration_bucket{http_request_method="POST",http_route="/api/backtests",le="+Inf"}', values: '0+9x40' }
      - { series: 'hindcast_provider_requests_total{hindcast_provider="Binance",hindcast_outcome="failed"}', values: '0+1x40' }
    promql_expr_test:
      - expr: sort_desc(count by (alertname) (ALERTS{alertstate="firing"}))
        eval_time: 35m
        exp_samples: [NAMES]
`;

async function promtool(args: readonly string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command("promtool", { args: [...args], cwd: ROOT }).output();
  const text = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  if (!success) throw new Error(`promtool ${args.join(" ")}:\n${text}`);
  return text;
}

Deno.test("promtool finds nothing wrong, and each alert fires on what it is for", async () => {
  expect(await promtool(["check", "config", CONFIGURATION])).toContain("7 rules found");
  const names = [...(await readPage("deploy/alerts.yaml")).matchAll(/alert: (\w+)/g)].map(([, name]) => name);
  const samples = names.map((name) => `{ labels: '{alertname="${name}"}', value: 1 }`);
  const file = await Deno.makeTempFile({ suffix: ".yaml" });
  await Deno.writeTextFile(file, FIRING.replace("NAMES", samples.join(", ")));
  await promtool(["test", "rules", file]);
  await Deno.remove(file);
});

Deno.test("Prometheus reads a service, and the dashboard's questions have answers", async () => {
  const [own, port] = [freePort(), freePort()];
  const service = await startTestService("PGlite", { METRICS_ADDRESS: `127.0.0.1:${own}` });
  const user = await service.user();
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const configuration = (await readPage(CONFIGURATION)).replaceAll("15s", "1s").replace(":9464", `:${own}`);
  await Deno.writeTextFile(`${folder}/prometheus.yaml`, configuration);
  await Deno.copyFile(`${ROOT}deploy/alerts.yaml`, `${folder}/alerts.yaml`);
  const process = new Deno.Command("prometheus", {
    args: [
      `--config.file=${folder}/prometheus.yaml`,
      `--storage.tsdb.path=${folder}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    stdout: "null",
    stderr: "null",
  }).spawn();
  const ask = async (query: string) => {
    const url = `http://127.0.0.1:${port}/api/v1/query?${new URLSearchParams({ query })}`;
    // It takes some time to listen, and some more to read its own files.
    const answer = await fetch(url).then((response) => response.text(), () => "");
    return answer.startsWith("{") ? answerSchema.parse(JSON.parse(answer)).data.result : [];
  };
  await until(async () => (await ask('up{job="hindcast"} == 1')).length === 1);
  const run = () => user.send("POST", "/api/backtests", { backtest: { ...BACKTEST, fresh: true } });
  await user.finish(String((await run()).at("/backtest/id")));
  await until(async () => (await ask("hindcast_backtest_duration_count > 0")).length === 1);
  // A rate needs two scrapes with a difference.
  await user.finish(String((await run()).at("/backtest/id")));
  await until(async () => (await ask("hindcast_backtest_duration_count > 1")).length === 1);

  const { panels } = dashboardSchema.parse(JSON.parse(await readPage("deploy/grafana.json")));
  expect(panels.length).toBeGreaterThan(5);
  for (const { title, targets } of panels) {
    for (const { expr } of targets) {
      const found = await ask(expr.replaceAll("$__rate_interval", "1m"));
      // No sandbox was ended here, and no provider called.
      if (/sandbox|provider/.test(expr)) expect([title, found]).toEqual([title, []]);
      else expect([title, found.length]).not.toEqual([title, 0]);
    }
  }
  process.kill("SIGTERM");
  await process.status;
  await service.close();
  await Deno.remove(folder, { recursive: true });
});
