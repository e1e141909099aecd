/** The words of the API's description for universes. */
import { memberAnswerSchema, universeSchema } from "../../routers/universes/universe_records.ts";
import { listOf, LOCATION, NEXT_CURSOR, type Operation, TABLE_MEDIA } from "./operation.ts";

const NO_UNIVERSE = ["UNIVERSE_NOT_FOUND"] as const;

/** By procedure. */
export const UNIVERSE_OPERATIONS: Readonly<Record<string, Operation>> = {
  "universesStreams.list": {
    summary: "Universes",
    description: "The caller's own and public ones, newest first, complete without `limit`.",
    output: listOf("universes", universeSchema),
  },
  "universes.create": {
    summary: "Make a universe",
    description: "A list of instruments with its first version. The members are a list, or CSV with the columns " +
      "symbol, exchange, from and to. Without dates a universe is a survivor's: it knows nobody who has left.",
    codes: ["SLUG_TAKEN", "QUOTA_EXCEEDED"],
    example: {
      universe: {
        slug: "my-rotation",
        description: "What the rotation may hold.",
        members: [
          { symbol: "OAK", exchange: "SAMPLE" },
          { symbol: "PINE", exchange: "SAMPLE", from: "2023-01-01", to: "2024-01-01" },
        ],
      },
    },
    headers: LOCATION,
  },
  "universes.get": { summary: "A universe", codes: NO_UNIVERSE },
  "universes.update": { summary: "Change the words of a universe", codes: NO_UNIVERSE },
  "universes.delete": {
    summary: "Delete a universe with its versions",
    description: "Runs keep the members that they used.",
    codes: NO_UNIVERSE,
  },
  "universesStreams.members": {
    summary: "The members of a universe",
    description: "Of the newest version, or of the one that `version` names. `from` is inclusive, `to` exclusive.",
    codes: NO_UNIVERSE,
    output: listOf("members", memberAnswerSchema),
    media: TABLE_MEDIA,
    headers: NEXT_CURSOR,
  },
  "universes.versions": { summary: "The versions of a universe, highest first", codes: NO_UNIVERSE },
  "universes.addVersion": {
    summary: "Add a version to a universe",
    description: "Versions never change: a run that names `my-rotation@1` finds the same members for ever.",
    codes: [...NO_UNIVERSE, "QUOTA_EXCEEDED"],
    example: { version: { csv: "symbol,exchange,from,to\nDEMO,SAMPLE,2023-01-01,\n" } },
  },
};
