import type { Operation } from "./operation.ts";

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
};
