/** Tools for lists of markets. */
import { z } from "zod";
import { AppError } from "../../routers/common/errors.ts";
import { fitPage, markText } from "./answers.ts";
import { type AgentApi, pageFields, tool } from "./tool.ts";

const slugField = z.string().max(64).describe("From list_universes.");
const MEMBERS_PAGE = 80;

export const UNIVERSE_TOOLS = [
  tool({
    name: "list_universes",
    title: "List universes",
    description: "Lists of markets with dates of membership, this account's own and public ones, newest first.",
    input: { search: z.string().max(100).optional(), ...pageFields(40) },
    isReading: true,
    call: async (api, input) => {
      const { universes, next_cursor } = await api.universes.list(input);
      const rows = universes.map(({ slug, description, latest_version, members, is_owner }) => {
        const text = markText(description.slice(0, 200), is_owner);
        return { slug, description: text, latest_version, members, is_owner };
      });
      return fitPage("list_universes", "universes", rows, next_cursor === null ? {} : { next_cursor });
    },
  }),
  tool({
    name: "read_universe",
    title: "Read a universe",
    description:
      "A page of a universe's members, with the days from and to which each belongs to it; null days are open ends.",
    input: {
      slug: slugField,
      version: z.int().min(1).optional().describe("The newest without it."),
      ...pageFields(MEMBERS_PAGE),
    },
    isReading: true,
    call: async (api, input) => {
      const { members, next_cursor } = await api.universes.members(input);
      const next = next_cursor === null ? {} : { more: `call read_universe with cursor ${next_cursor}` };
      return fitPage("read_universe", "members", members, next);
    },
  }),
  tool({
    name: "write_universe",
    title: "Keep a universe",
    description:
      "Keeps a list of markets as this account's own, privately; where the slug is one of its own already, as a new version. Runs " +
      "over it then name the slug. Without days of membership, a list of what exists today looks back with hindsight: say so.",
    input: {
      slug: z.string().max(64).describe("As in my-markets."),
      description: z.string().max(4000).default(""),
      members: z.array(
        z.strictObject({
          symbol: z.string().max(100),
          exchange: z.string().max(100),
          from: z.string().max(10).optional().describe("YYYY-MM-DD."),
          to: z.string().max(10).optional(),
        }),
      ).min(1).max(1000),
    },
    isReading: false,
    call: async (api, { slug, description, members }) => {
      if (await isOwn(api, slug)) {
        const { version } = await api.universes.addVersion({ slug, version: { members } });
        return { slug, version: version.version, kept: "as a new version; its description stays" };
      }
      const { universe } = await api.universes.create({ universe: { slug, description, members } });
      return { slug, version: universe.latest_version, kept: "privately", members: universe.members };
    },
  }),
];

async function isOwn(api: AgentApi, slug: string): Promise<boolean> {
  try {
    return (await api.universes.get({ slug })).universe.is_owner;
  } catch (error) {
    if (error instanceof AppError && error.appCode === "UNIVERSE_NOT_FOUND") return false;
    throw error;
  }
}
