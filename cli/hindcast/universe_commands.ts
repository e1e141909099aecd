import { resolve } from "node:path";
import { drawRows, NONE } from "../drawing.ts";
import { invocationFolder } from "../invocation.ts";
import { calling, collect, unlessMissing } from "./caller.ts";
import { callerFor, group, outputFor, print, serviceCommand } from "./command.ts";
import { usageError } from "../exit_codes.ts";
import { readMarkets, readUserFile } from "./question.ts";
import { readNumber } from "../values.ts";

const list = serviceCommand("list", "List your universes and public ones")
  .argument("[search]", "words in slugs and descriptions")
  .option("-n, --limit <count>", "the most rows that are listed", "50")
  .action(async (search, { limit, ...options }) => {
    const caller = callerFor(options);
    const output = outputFor(options);
    const asked = search === undefined ? {} : { search };
    const read = caller.api.universes.list.query;
    const { items, next_cursor } = await collect(
      caller,
      readNumber("--limit", limit),
      (page) => read({ ...asked, ...page }),
      ({ universes }) => universes,
    );
    const rows = items.map((
      one,
    ) => [one.slug, String(one.latest_version), String(one.members), one.is_owner ? "you" : NONE, one.description]);
    print(
      output,
      { universes: items, next_cursor },
      drawRows(["Slug", " Version", " Members", "Owner", "Description"], rows, output),
    );
  });

const show = serviceCommand("show", "Show the members of a universe")
  .argument("<slug>", "its slug")
  .argument("[version]", "an older version (default: the newest)")
  .action(async (slug, version, options) => {
    const caller = callerFor(options);
    const output = outputFor(options);
    const { universe } = await calling(caller, caller.api.universes.get.query({ slug }));
    const asked = version === undefined ? {} : { version: readNumber("version", version) };
    const read = caller.api.universes.members.query;
    const { items } = await collect(
      caller,
      Infinity,
      (page) => read({ slug, ...asked, ...page }),
      ({ members }) => members,
    );
    const rows = items.map(({ symbol, exchange, from, to }) => [`${symbol}@${exchange}`, from ?? NONE, to ?? NONE]);
    print(
      output,
      { universe, members: items },
      `${universe.slug}, version ${version ?? universe.latest_version}\n${
        drawRows(["Instrument", "From", "To"], rows, output)
      }`,
    );
  });

const push = serviceCommand("push", "Make a universe, or add a version to your own")
  .argument("<slug>", "its slug")
  .argument("<members>", "a CSV file with symbol,exchange,from,to, or instruments: A@X,B@X")
  .option("--description <text>", "what it is, for a new one")
  .option("--public", "for everybody, for a new one")
  .action(async (slug, members, { description, public: isPublic, ...options }) => {
    const caller = callerFor(options);
    const output = outputFor(options);
    const content = await readMembers(members);
    const { universes } = caller.api;
    if (await unlessMissing(caller, universes.get.query({ slug })) !== null) {
      if (description !== undefined || isPublic !== undefined) {
        throw usageError(
          `Cannot use --description and --public: ${slug} is there already, and a new version has members alone`,
        );
      }
      const answer = await calling(caller, universes.addVersion.mutate({ slug, version: content }));
      return print(output, answer, `${slug} has version ${answer.version.version} now.`);
    }
    const universe = { slug, description: description ?? "", is_public: isPublic === true, ...content };
    const answer = await calling(caller, universes.create.mutate({ universe }));
    print(output, answer, `Made ${slug}.`);
  });

const remove = serviceCommand("delete", "Delete a universe of yours; runs keep the members that they used")
  .argument("<slug>", "its slug")
  .action(async (slug, options) => {
    const caller = callerFor(options);
    await calling(caller, caller.api.universes.delete.mutate({ slug }));
    print(outputFor(options), { deleted: slug }, `Deleted ${slug}.`);
  });

/** The members of a CSV file, or those that are named. */
async function readMembers(text: string) {
  if (text.includes("@")) return { members: readMarkets(text) };
  const bytes = await readUserFile(resolve(invocationFolder(), text));
  return { csv: new TextDecoder().decode(bytes) };
}

/** `hindcast universes`. */
export const universesCommand = group("universes", "Lists of markets, with versions", [list, show, push, remove]);
