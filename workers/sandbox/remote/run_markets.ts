import type { RunProgress } from "../../../engine/control.ts";
import { beginPortfolio } from "../../../engine/portfolio/run_portfolio.ts";
import { type Outcome, RunError } from "../../common/outcome.ts";
import type { RemoteMarketsTask } from "../../common/remote_task.ts";
import { uncheckedIntegrity } from "../integrity.ts";
import type { SandboxMarkets } from "../markets_task.ts";
import { EndpointLine } from "./line.ts";
import { BATCH_NOTE } from "./run.ts";
import { EachRemote } from "./each_market.ts";
import { EndpointPlots } from "./plots.ts";
import { PortfolioRemote } from "./portfolio.ts";

/** The plots of a run, with notes and lines about those that it does not keep. */
type Drawings = ReturnType<EachRemote["takePlots"]>;

/**
 * Runs an endpoint over many markets with one account, and checks its integrity.
 *
 * @param onProgress Called with the progress so far.
 * @returns The result, or the endpoint's failure.
 */
export async function runRemoteMarkets(
  task: RemoteMarketsTask,
  onProgress: (progress: RunProgress) => void,
): Promise<Outcome<SandboxMarkets>> {
  const line = new EndpointLine(task.endpoint, task.timeoutMs);
  let take = (): Drawings => ({ plots: [], notes: [], log: [] });
  try {
    const { mode } = task;
    const remote = mode === "portfolio" ? new PortfolioRemote(task, line) : new EachRemote(task, mode, line);
    const { simulation, result } = beginPortfolio({ ...task, strategy: remote.strategy, control: null });
    const { timeline, account, positions, equity } = simulation;
    const { instant } = timeline;
    const plots = new EndpointPlots(instant.length);
    take = () =>
      remote instanceof EachRemote
        ? remote.takePlots(timeline)
        : { plots: plots.kept.map((plot) => ({ market: null, ...plot })), notes: [], log: plots.log };
    for (let row = 0; row < instant.length && simulation.advance(row); row++) {
      const asked = simulation.look(row);
      if (asked.length > 0) {
        if (remote instanceof PortfolioRemote) await remote.load({ now: instant[row]!, row, plots }, asked, account);
        else await remote.load(asked, (seat) => positions.bind(seat));
        onProgress({ candlesDone: row + 1, equity: equity[row]! });
      }
      if (!simulation.decide(row)) break;
    }
    simulation.finish();
    const made = result();
    const integrity = task.checksIntegrity === false ? uncheckedIntegrity(made) : await remote.check(made);
    const drawn = take();
    const notes = [...made.notes, ...drawn.notes, ...(mode === "batch" ? [BATCH_NOTE] : [])];
    return { type: "completed", result: { ...made, notes }, integrity, log: drawn.log, plots: drawn.plots };
  } catch (error) {
    if (!(error instanceof RunError)) throw error;
    const { log, plots } = take();
    return { ...error.outcome, log, marketPlots: plots };
  } finally {
    line.close();
  }
}
