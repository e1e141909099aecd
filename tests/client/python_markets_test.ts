/** The Python package over many markets: accounts, scans, universes and stress tests. */
import { expect } from "@std/expect";
import { blockIn, readPage, ROOT } from "../support/pages.ts";
import { runIn } from "../support/run_in.ts";
import { startTestService } from "../support/service.ts";

// The answers of an account over many markets, a scan, a universe and a stress test, and the refusal of a wrong one.
const MARKETS = `
import hindcast, json
hc = hindcast.connect()
dates = ("2023-01-01", "2024-01-01")
three = ["OAK@SAMPLE", "BIRCH@SAMPLE", "ASPEN@SAMPLE"]
made = hc.save_universe("three-trees", three)
again = hc.save_universe("three-trees", [{"symbol": "OAK", "exchange": "SAMPLE", "from": "2023-02-01"}, "BIRCH@SAMPLE"])
print(made.members, again.version, [row["slug"] for row in hc.universes("three-trees")])
print([(row["symbol"], row["from"]) for row in hc.universe("three-trees")], len(hc.universe("three-trees", 1)))
shared = hc.run("Equal Weight", three, *dates, timeframe="1d")
print(repr(shared).splitlines()[0])
listed = hc.run("Equal Weight", "OAK@SAMPLE", *dates, timeframe="1d", universe="three-trees")
print(repr(listed).splitlines()[0])
for named in ({"universe": "three-trees"}, {"universe": "three-trees@1"}, {"instruments": three[1:]}):
    alone = hc.run("Equal Weight", start=dates[0], end=dates[1], timeframe="1d", **named)
    print(repr(alone).splitlines()[0], alone.symbol)
scan = hc.optimize("SMA Cross", three, *dates, timeframe="1d", space={"fast": [4, 8], "slow": [24]})
print(repr(scan).splitlines()[0], scan.ranking.points_count, len(scan.ranking.markets))
kept = hc.optimize("SMA Cross", None, *dates, timeframe="1d", space={"fast": [4], "slow": [24]}, universe="three-trees")
print(repr(kept).splitlines()[0])
run = hc.run("SMA Cross", "OAK@SAMPLE", *dates, timeframe="1d", fast=4, slow=24)
test = run.stress()
print(test.rows[0]["name"], test.rows[0]["total_return"] == run.metrics.total_return, len(test.regimes) > 2)
print(repr(test).splitlines()[:2], hc.get_stress_test(test.id).status)
for wrong in (["OAK@SAMPLE", "BIRCH", "ASPEN@SAMPLE"], *dates), (None, *dates), ("OAK@SAMPLE",):
    try:
        hc.run("Equal Weight", *wrong)
    except ValueError as error:
        print(error)
`;

Deno.test("the Python package runs over many markets", async (t) => {
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const service = await startTestService("PostgreSQL");
  const made = await (await service.user()).send("POST", "/api/tokens", { token: { name: "python", scope: "run" } });
  const env = {
    HINDCAST_URL: service.url,
    HINDCAST_TOKEN: String(made.at("/secret")),
    HOME: folder,
    PYTHONPATH: `${ROOT}client/python`,
    PYTHONDONTWRITEBYTECODE: "1",
  };
  // Without the packages of this machine, tables are lists.
  const python = (code: string) => runIn(folder, ["python3", "-S", "-c", code], env);

  await t.step("many markets share an account or are scanned, universes are kept, and a run is stressed", async () => {
    const { code, stdout, stderr } = await python(MARKETS);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout.split("\n")).toEqual([
      "3 2 ['three-trees']",
      "[('OAK', '2023-02-01'), ('BIRCH', None)] 3",
      "Equal Weight on 3 markets, 2023-01-01 to 2024-01-01: completed",
      "Equal Weight on three-trees@2, 2023-01-01 to 2024-01-01: completed",
      // The first member that is there from the beginning is the benchmark.
      "Equal Weight on three-trees@2, 2023-01-01 to 2024-01-01: completed BIRCH",
      expect.stringMatching(/^Equal Weight on three-trees@1, .* (OAK|BIRCH|ASPEN)$/),
      "Equal Weight on 2 markets, 2023-01-01 to 2024-01-01: completed BIRCH",
      "SMA Cross on 3 markets: completed, 6 trials 2 3",
      "SMA Cross on three-trees@2: completed, 2 trials",
      "As it ran True True",
      expect.stringMatching(/^\['stress test: completed', ' {2}As it ran +total return -?[\d.]+ %'\] completed$/),
      expect.stringContaining("as in 'DEMO@SAMPLE'"),
      expect.stringContaining("Cannot run without a market"),
      expect.stringContaining("Cannot run without dates"),
      "",
    ]);
  });
  await t.step("the page's example", async () => {
    const markets = await python(blockIn(await readPage("docs/python.md"), "python", "save_universe"));
    expect([markets.code, markets.stderr]).toEqual([0, ""]);
    expect(markets.stdout).toMatch(
      /^Equal Weight on 3 markets[^]*\n\{'fast': \d, 'slow': \d+\} 3\nstress test: completed\n[^]*profit up\n$/,
    );
  });
  await service.close();
  await Deno.remove(folder, { recursive: true });
});
