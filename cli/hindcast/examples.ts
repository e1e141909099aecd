/** Command lines that the help of each command shows, by the command's words. */
export const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  "login": [
    "hindcast login https://hindcast.example.com",
    "hindcast login https://hindcast.example.com --scope read --email ada@example.com",
    "hindcast login https://hindcast.example.com --with-token < token.txt",
  ],
  "run": [
    "hindcast run sma-cross DEMO@SAMPLE 2024-01-01 2024-07-01 -t 1h -p fast=24 -p slow=96 --commission 0.0005",
    "hindcast run my-cross/strategy.ts DEMO@SAMPLE 2024-01-01 2024-07-01 -t 1d --name first --json",
    "hindcast run equal-weight OAK@SAMPLE 2023-01-01 2024-01-01 -t 1d --universe trees",
    `hindcast run equal-weight ALDER@SAMPLE,OAK@SAMPLE 2023-01-01 2024-01-01 -t 1d --execution '{"leverage": 2}'`,
  ],
  "optimize": [
    "hindcast optimize sma-cross DEMO@SAMPLE 2024-01-01 2024-07-01 -t 1h -s fast=4:24:4 -s slow=48,96",
    'hindcast optimize sma-cross DEMO@SAMPLE 2024-01-01 2025-01-01 -s fast=2:20 -s slow=10:60 --constraint "fast < slow" ' +
    "--method random --trials 200 --walk-forward 180:60",
    "hindcast optimize sma-cross ALDER@SAMPLE,OAK@SAMPLE 2023-01-01 2024-01-01 -t 1d -s fast=4,8 -s slow=24,48",
    "hindcast optimize momentum-rotation ALDER@SAMPLE,OAK@SAMPLE 2023-01-01 2024-01-01 -t 1d -p top=1 -s lookback=20,40",
  ],
  "stress": ["hindcast stress 01a22031-1d21-7185-9dc2-9f78124fc408"],
  "monte-carlo": [
    "hindcast monte-carlo 01a22031-1d21-7185-9dc2-9f78124fc408",
    "hindcast monte-carlo 01a22031-1d21-7185-9dc2-9f78124fc408 --method trades --runs 5000",
  ],
  "list": [
    "hindcast list --status completed --sort sharpe -n 5",
    "hindcast list --strategy sma-cross --json",
    "hindcast list --kind optimizations",
  ],
  "show": [
    "hindcast show",
    "hindcast show --kind optimizations",
    "hindcast show 01a22031-1d21-7185-9dc2-9f78124fc408 --json",
  ],
  "watch": ["hindcast watch", "hindcast watch 01a22031-1d21-7185-9dc2-9f78124fc408"],
  "compare": ["hindcast compare 01a22031-1d21-7185-9dc2-9f78124fc408 01a22031-32f1-710b-b08a-4a725bc2d416 --all"],
  "export": [
    "hindcast export trades -o trades.csv",
    "hindcast export trials -o trials.csv",
    "hindcast export 01a22031-1d21-7185-9dc2-9f78124fc408 report -o report.html",
  ],
  "export-account": ["hindcast export-account hindcast-backup"],
  "cancel": ["hindcast cancel 01a22031-1d21-7185-9dc2-9f78124fc408"],
  "strategies list": ["hindcast strategies list cross", "hindcast strategies list --source builtin"],
  "strategies show": ["hindcast strategies show sma-cross"],
  "strategies source": ["hindcast strategies source my-cross my-cross.ts"],
  "strategy new": [
    "hindcast strategy new my-cross --lang typescript",
    "hindcast strategy new turn --lang python --portfolio",
  ],
  "strategy check": ["hindcast strategy check my-cross/strategy.ts", "hindcast strategy check http://127.0.0.1:9000/"],
  "strategy run": [
    "hindcast strategy run my-cross/strategy.ts --data AAPL.csv --commission 0.0005",
    "hindcast strategy run my-cross/strategy.ts --symbol DEMO --from 2024-01-01 --to 2024-07-01 --timeframe 1h",
  ],
  "strategy test": ["hindcast strategy test my-cross/strategy.ts"],
  "strategy push": [
    `hindcast strategy push my-cross/strategy.ts --name "My cross" --description "Buys a cross upwards"`,
    "hindcast strategy push serve:mine --lookback 50",
  ],
  "strategy serve": ["hindcast strategy serve http://127.0.0.1:9000/ --name mine"],
  "universes list": ["hindcast universes list trees"],
  "universes show": ["hindcast universes show trees", "hindcast universes show trees 1"],
  "universes push": [
    "hindcast universes push trees ALDER@SAMPLE,OAK@SAMPLE",
    `hindcast universes push large members.csv --description "The largest 500"`,
  ],
  "universes delete": ["hindcast universes delete trees"],
  "markets": ["hindcast markets", "hindcast markets EURUSD"],
  "import": [
    "hindcast import AAPL.csv MSFT.csv --exchange NASDAQ",
    "hindcast import export.csv --symbol EURUSD --exchange DESK -t 1h --asset-class forex",
  ],
  "doctor": ["hindcast doctor", "hindcast doctor --url https://hindcast.example.com"],
};
