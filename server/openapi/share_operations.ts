import { z } from "zod";
import { equityPointSchema, orderSchema, returnSchema, tradeSchema } from "../../routers/backtests/backtest_records.ts";
import { holdingSchema } from "../../routers/backtests/holdings.ts";
import { trialSchema } from "../../routers/optimizations/optimization_records.ts";
import { listOf, NEXT_CURSOR, type Operation, TABLE_MEDIA } from "./operation.ts";

const NO_LINK = ["SHARE_NOT_FOUND"] as const;
const AS_OWNER = "For everybody who has the link, as its owner gets it and within the same limits.";

/** The words of the routes of links. */
export const SHARE_OPERATIONS: Readonly<Record<string, Operation>> = {
  "shares.list": {
    summary: "The caller's links",
    description: "Those that have not expired, newest first; with an id, those to that run or optimization.",
  },
  "shares.create": {
    summary: "Make a read-only link",
    description:
      "Everybody who has the link can read the record without an account: a completed run, two to five compared, or a completed optimization. It shows everything but code, logs, notes, tags and other runs. `path` on this service is the page, and this answer alone has it. A record may have 10 links, a user 200.",
    codes: ["BACKTEST_NOT_FOUND", "OPTIMIZATION_NOT_FOUND", "NOT_COMPLETED", "QUOTA_EXCEEDED"],
  },
  "shares.revoke": {
    summary: "Revoke a link",
    description: "It opens nothing any more.",
    codes: ["SHARE_NOT_FOUND"],
  },
  "shares.open": {
    summary: "What a link shows",
    description: "For everybody who has the link. A banned user's links open nothing.",
    codes: ["SHARE_NOT_FOUND", "RANGE_TOO_LARGE"],
  },
  "sharesStreams.report": {
    summary: "The run of a link as one HTML file",
    description: AS_OWNER,
    codes: [...NO_LINK, "RANGE_TOO_LARGE", "NOT_COMPLETED"],
    output: null,
    media: ["text/html"],
    headers: { ETag: "A hash of the file." },
  },
  "sharesStreams.orders": {
    summary: "The orders of a link's run",
    description: AS_OWNER,
    codes: NO_LINK,
    output: listOf("orders", orderSchema),
    media: TABLE_MEDIA,
    headers: NEXT_CURSOR,
  },
  "sharesStreams.trades": {
    summary: "The trades of a link's run",
    description: AS_OWNER,
    codes: NO_LINK,
    output: listOf("trades", tradeSchema),
    media: TABLE_MEDIA,
    headers: NEXT_CURSOR,
  },
  "sharesStreams.holdings": {
    summary: "The holdings of a link's run over many markets",
    description: AS_OWNER,
    codes: NO_LINK,
    output: listOf("holdings", holdingSchema),
    media: TABLE_MEDIA,
  },
  "sharesStreams.equity": {
    summary: "The equity curve of a link's run",
    description: AS_OWNER,
    codes: [...NO_LINK, "RANGE_TOO_LARGE", "INVALID_DATE_RANGE"],
    output: listOf("equity", equityPointSchema).partial({ next_cursor: true }),
    media: TABLE_MEDIA,
    headers: NEXT_CURSOR,
  },
  "sharesStreams.returns": {
    summary: "The returns of a link's run by day, month or year",
    description: AS_OWNER,
    codes: [...NO_LINK, "RANGE_TOO_LARGE"],
    output: z.object({ returns: z.array(returnSchema) }),
    media: TABLE_MEDIA,
  },
  "sharesStreams.trials": {
    summary: "The trials of a link's optimization",
    description: `${AS_OWNER} Messages of failures are left out.`,
    codes: NO_LINK,
    output: listOf("trials", trialSchema),
    media: TABLE_MEDIA,
    headers: NEXT_CURSOR,
  },
};
