/** The demonstration on a service that runs already: `demonstration.ts URL INGESTION_SECRET FILE.csv`. */
import { demonstrate } from "../../cli/demo.ts";
import { withoutColor } from "../../cli/terminal.ts";

const [url = "", ingestionSecret = "", data] = Deno.args;
await demonstrate({ url, ingestionSecret }, { data, timeframe: undefined, assetClass: "crypto", paint: withoutColor });
