/** The demonstration on a service that runs already: `demonstration.ts URL INGESTION_SECRET FILE [optimize]`, or `portfolio` in FILE's place. */
import { demonstrate } from "../../cli/demo.ts";
import { withoutColor } from "../../cli/terminal.ts";

const [url = "", ingestionSecret = "", data, optimize] = Deno.args;
const guessed = { timeframe: undefined, assetClass: undefined, dateOrder: undefined };
await demonstrate({ url, ingestionSecret }, {
  data: data === "portfolio" ? undefined : data,
  isPortfolio: data === "portfolio",
  ...guessed,
  optimizes: optimize !== undefined,
  paint: withoutColor,
});
