/** One kind of runs, as every command about runs treats it. */
import { drawFirstFit, drawRows } from "../drawing.ts";
import { CommandError, EXIT } from "../exit_codes.ts";
import { type Caller, calling, collect, unlessMissing } from "./caller.ts";
import { type Output, print } from "./command.ts";
import { showProgress, untilInterrupted } from "./progress.ts";

/** The parts that records of each kind have. */
interface RunRecord {
  readonly id: string;
  readonly status: string;
  readonly progress: number;
  readonly error: { readonly code: string; readonly message: string } | null;
}

interface Events<Record> {
  onData(record: Record): void;
  onError(error: unknown): void;
  onComplete(): void;
}

/** The procedures that each kind has. */
interface RunProcedures<Record extends RunRecord, Answer> {
  readonly get: { query(input: { readonly id: string }): Promise<Answer> };
  readonly cancel: { mutate(input: { readonly id: string }): Promise<Answer> };
  readonly onEvent: { subscribe(input: { readonly id: string }, events: Events<Record>): { unsubscribe(): void } };
}

/** The columns of a list. */
interface ListShape<Listed> {
  readonly head: readonly string[];
  /** Left out first on a narrow terminal, in this order. */
  readonly spare: readonly string[];
  describe(run: Listed): string[];
}

interface ListPage {
  readonly limit: number;
  readonly cursor?: string;
}

/** The parts of a kind that are its own. */
interface KindShape<Record extends RunRecord, Answer extends object, Listed, Page> {
  /** The word of the API's paths and of `--kind`. */
  readonly name: string;
  /** One of them. */
  readonly noun: string;
  /** The command that makes one. */
  readonly maker: string;
  /** The options of `list` that it takes, with the names of the service. */
  readonly filters: Readonly<Partial<globalThis.Record<string, string>>>;
  procedures(api: Caller["api"]): RunProcedures<Record, Answer>;
  recordOf(answer: Answer): Record;
  draw(caller: Caller, record: Record, output: Output): Promise<string>;
  readPage(api: Caller["api"], asked: ListPage): Promise<Page>;
  itemsOf(page: Page): readonly Listed[];
  /** The list's name in the service's answer. */
  readonly listName: string;
  /** The second shape is for terminals that have no room for the first. */
  readonly lists: readonly ListShape<Listed>[];
  /** The settings and the figures by which two are compared. */
  compared(record: Record): Compared;
}

/** Names with texts. */
type Rows = readonly (readonly [name: string, text: string])[];

interface Compared {
  readonly settings: Rows;
  readonly figures: Rows;
}

/** A run that an id names. */
export interface FoundRun extends Compared {
  readonly kind: RunKind;
  readonly id: string;
  /** The service's answer. */
  readonly answer: object;
  draw(output: Output): Promise<string>;
}

export interface RunKind {
  readonly name: string;
  readonly noun: string;
  readonly filters: Readonly<Partial<Record<string, string>>>;
  /** @returns Null where the service knows no such one. */
  find(caller: Caller, id: string): Promise<FoundRun | null>;
  cancel(caller: Caller, id: string): Promise<object>;
  /** Waits for the end of one, with a line of progress, and shows it. @throws CommandError where it has no result, and once Ctrl+C is pressed. */
  follow(caller: Caller, id: string, output: Output): Promise<void>;
  /** Lists the newest, or those that a filter puts first. */
  list(caller: Caller, count: number, asked: object, output: Output): Promise<void>;
  /** The id of the newest. @throws CommandError where there is none. */
  findNewest(caller: Caller): Promise<string>;
}

/** Makes a kind of what it has of its own. */
export function runKind<
  Item extends RunRecord,
  Answer extends object,
  Listed extends { readonly id: string },
  Page extends { readonly next_cursor: string | null },
>(shape: KindShape<Item, Answer, Listed, Page>): RunKind {
  const { name, noun, filters, procedures, recordOf, draw } = shape;
  const find = async (caller: Caller, id: string) => {
    const answer = await unlessMissing(caller, procedures(caller.api).get.query({ id }));
    if (answer === null) return null;
    const record = recordOf(answer);
    return { kind, id, answer, ...shape.compared(record), draw: (output: Output) => draw(caller, record, output) };
  };
  const kind: RunKind = {
    name,
    noun,
    filters,
    find,
    cancel: (caller, id) => calling(caller, procedures(caller.api).cancel.mutate({ id })),
    follow: async (caller, id, output) => {
      await awaitEnd(caller, procedures(caller.api), id, output);
      // As GET answers it, with the tries that it is one of.
      const answer = await calling(caller, procedures(caller.api).get.query({ id }));
      const record = recordOf(answer);
      print(output, answer, output.isJson ? "" : await draw(caller, record, output));
      requireCompleted(noun, record);
    },
    list: (caller, count, asked, output) => list(shape, caller, { count, asked }, output),
    findNewest: async (caller) => {
      const [newest] = shape.itemsOf(await calling(caller, shape.readPage(caller.api, { limit: 1 })));
      if (newest !== undefined) return newest.id;
      throw new CommandError(`You have no ${noun} yet: ${shape.maker} makes one`, EXIT.failed, { code: "NOT_FOUND" });
    },
  };
  return kind;
}

async function list<Item extends RunRecord, Answer extends object, Listed, Page extends { next_cursor: string | null }>(
  { noun, maker, lists, listName, readPage, itemsOf }: KindShape<Item, Answer, Listed, Page>,
  caller: Caller,
  { count, asked }: { readonly count: number; readonly asked: object },
  output: Output,
): Promise<void> {
  const read = (page: ListPage) => readPage(caller.api, { ...asked, ...page });
  const { items, next_cursor } = await collect(caller, count, read, itemsOf);
  const text = items.length === 0 ? `No ${noun}. ${maker} makes one.` : drawFirstFit(
    lists,
    output.columns,
    ({ head, describe, spare }) => drawRows(head, items.map(describe), output, spare),
  );
  print(output, { [listName]: items, next_cursor }, text);
}

/** @throws CommandError for a run that ended without a result. */
function requireCompleted(noun: string, { status, error }: RunRecord): void {
  if (status === "completed") return;
  const reason = error === null ? "" : `: ${error.message}`;
  const code = error?.code ?? status.toUpperCase();
  throw new CommandError(`The ${noun} has ${status}${reason}`, EXIT.failed, { code });
}

/** Waits for the end of a run, with a line of progress. @throws CommandError once Ctrl+C is pressed. */
async function awaitEnd<Item extends RunRecord, Answer>(
  caller: Caller,
  { onEvent }: RunProcedures<Item, Answer>,
  id: string,
  output: Output,
): Promise<void> {
  const line = showProgress(output);
  await untilInterrupted(async (signal) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    let isSeen = false;
    const subscription = onEvent.subscribe({ id }, {
      onData: (record) => {
        isSeen = true;
        line.update(record);
      },
      onError: reject,
      onComplete: () => isSeen ? resolve() : reject(new Error(`Cannot follow ${id}: try again`)),
    });
    signal.addEventListener("abort", () => reject(signal.reason));
    try {
      await calling(caller, promise);
    } catch (error) {
      if (!signal.aborted) throw error;
      throw new CommandError(`The run goes on: hindcast watch ${id}`, EXIT.interrupted, { code: "INTERRUPTED" });
    } finally {
      subscription.unsubscribe();
      line.end();
    }
  });
}
