/** The Python package beside Debian's pandas and matplotlib, and its notebook: `deno task test:debian`. */
import { expect } from "@std/expect";
import { grantAdmin } from "../../db/users.ts";
import { openPostgres } from "../../db/client.ts";
import { blockIn, readPage, ROOT } from "../support/pages.ts";
import { runIn } from "../support/run_in.ts";
import { startTestService } from "../support/service.ts";

const PNG = [0x89, 0x50, 0x4e, 0x47];

const SHAPES = `
import hindcast, pandas
hc = hindcast.connect()
candles = hc.candles("DEMO@SAMPLE", "2024-01-01", "2024-02-01", timeframe="1h")
run = hc.run("SMA Cross", "DEMO@SAMPLE", "2024-01-01", "2024-07-01", timeframe="1h")
print(type(candles).__name__, len(candles), str(candles.index.tz), candles.close.dtype)
print(len(run.equity), run.equity.index.is_monotonic_increasing, run.trades.exit_time.dtype, run.trades.tag.isna().all())
print(abs((1 + run.returns["return"]).prod() - 1 - run.metrics.total_return) < 1e-9)
frame = candles.tz_convert("Europe/Berlin").resample("1D").agg(
    {"open": "first", "high": "max", "low": "min", "close": "last", "volume": "sum"})
`;

const NUMBERS = `
import hindcast, numpy
hc = hindcast.connect()
dates = ("DEMO@SAMPLE", "2024-01-01", "2024-02-01")
run = hc.run("SMA Cross", *dates, timeframe="1h", fast=numpy.int64(5), commission=numpy.float32(0.5), balance=numpy.float64(5000))
found = hc.optimize("SMA Cross", *dates, timeframe="1h", space={"fast": numpy.arange(4, 7), "slow": numpy.array([20, 30])})
print(run.parameters.fast, run.initial_balance, run.parameters.execution.commission.rate, len(found.trials))
`;

const UPLOAD = `
import hindcast, pandas
hc = hindcast.connect()
days = pandas.date_range("2024-01-01", "2024-02-29", freq="D", tz="UTC", name="timestamp")
close = pandas.Series(range(100, 100 + len(days)), index=days, dtype=float)
frame = pandas.DataFrame({"open": close, "high": close + 2, "low": close - 2, "close": close + 1, "volume": 10.0})
said = hc.upload(frame, "MINE@LAB", timeframe="1d", asset_class="crypto")
back = hc.candles("MINE@LAB", "2024-01-01", "2024-03-01")
print(said.imported, said.rejected_count, (back[["open", "high", "low", "close"]].values == frame[["open", "high", "low", "close"]].values).all())
`;

Deno.test("Debian's pandas and matplotlib show a run as frames and as a plot, and the notebook runs", async (t) => {
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const service = await startTestService("PostgreSQL");
  const user = service.client();
  const handle = await openPostgres(service.databaseUrl, 1);
  await grantAdmin(handle.db, await user.signUp());
  await handle.close();
  const tokenOf = async (scope: "run" | "admin") =>
    String((await user.send("POST", "/api/tokens", { token: { name: scope, scope } })).at("/secret"));
  const env = { HINDCAST_URL: service.url, HINDCAST_TOKEN: await tokenOf("run"), MPLBACKEND: "Agg", HOME: folder };
  const python = async (code: string) => {
    await Deno.writeTextFile(`${folder}/program.py`, code);
    return await runIn(folder, [`${folder}/venv/bin/python`, "program.py"], env);
  };

  await t.step("it is installed beside Debian's packages", async () => {
    const lines = blockIn(await readPage("docs/python.md"), "sh", "venv").replaceAll(".venv", "venv")
      .replace("python3 -m venv", "/usr/bin/python3 -m venv").replace("./client/python", `${ROOT}client/python`);
    const { code, stderr } = await runIn(folder, ["sh", "-euc", lines]);
    expect([code, code === 0 ? "" : stderr]).toEqual([0, ""]);
  });
  await t.step("tables are frames with UTC times, whole, and returns make up the total", async () => {
    const { code, stdout, stderr } = await python(SHAPES);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toBe("DataFrame 744 UTC float64\n4368 True datetime64[ns, UTC] True\nTrue\n");
  });
  await t.step("NumPy's numbers and arrays are parameters as Python's own are", async () => {
    const { code, stdout, stderr } = await python(NUMBERS);
    expect([code, stderr, stdout]).toEqual([0, "", "5 5000 0.5 6\n"]);
  });
  await t.step("the page's tables and plot", async () => {
    const { code, stdout, stderr } = await python(blockIn(await readPage("docs/python.md"), "python", "groupby"));
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^exit_reason\nsignal +-?[\d.]+\nName: pnl, dtype: float64\n0\.\d+ 0\.\d+\n$/);
    expect([...(await Deno.readFile(`${folder}/run.png`)).subarray(0, 4)]).toEqual(PNG);
  });
  await t.step("the page's kernel for Debian's Jupyter finds the package", async () => {
    const [line = ""] = /`\.venv\/bin\/python -m ipykernel [^`]*`/.exec(await readPage("docs/python.md")) ?? [];
    const [program = "", ...args] = line.replaceAll("`", "").replace(".venv", `${folder}/venv`).split(" ");
    expect(await runIn(folder, [program, ...args], env)).toMatchObject({ code: 0 });
    const kernel = await Deno.readTextFile(`${folder}/.local/share/jupyter/kernels/hindcast/kernel.json`);
    const [interpreter = ""]: readonly string[] = JSON.parse(kernel).argv;
    const found = await runIn(folder, [interpreter, "-c", "import hindcast; print(hindcast.__name__)"], env);
    expect([found.code, found.stdout]).toEqual([0, "hindcast\n"]);
  });
  await t.step("the notebook's cells run one after the other", async () => {
    const notebook = JSON.parse(await readPage("client/python/examples/first_run.ipynb"));
    const cells: readonly { readonly cell_type: string; readonly source: readonly string[] }[] = notebook.cells;
    const code = cells.filter(({ cell_type }) => cell_type === "code").map(({ source }) => source.join(""));
    expect(code.length).toBeGreaterThan(5);
    // A notebook shows the value of a cell's last line.
    const shown = `import ast
def show(text):
    *body, last = ast.parse(text).body
    exec(compile(ast.Module(body, []), "cell", "exec"), globals())
    if isinstance(last, ast.Expr):
        value = eval(compile(ast.Expression(last.value), "cell", "eval"), globals())
        print(len(getattr(value, "_repr_html_", lambda: repr(value))() or ""))
    else:
        exec(compile(ast.Module([last], []), "cell", "exec"), globals())
`;
    const ran = await python(shown + code.map((text) => `show(${JSON.stringify(text)})`).join("\n"));
    expect([ran.code, ran.stderr]).toEqual([0, ""]);
    expect(ran.stdout.trim().split("\n").map(Number).every((length) => length > 100)).toBe(true);
  });
  await t.step("a frame is uploaded by an admin's token and read back", async () => {
    const refused = await python(UPLOAD);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/HindcastError: .*scope/)]);
    const { stdout, stderr } = await python(UPLOAD.replace("connect()", `connect(token="${await tokenOf("admin")}")`));
    expect([stdout, stderr]).toEqual(["60 0 True\n", ""]);
  });
  await service.close();
  await Deno.remove(folder, { recursive: true });
});
