import { createTableRelationsHelpers, extractTablesRelationalConfig } from "drizzle-orm";
import type { ExtractTablesWithRelations, RelationalSchemaConfig, SQLWrapper } from "drizzle-orm";
import { PgDialect, type PgTransactionConfig } from "drizzle-orm/pg-core";
import { PgProxyTransaction, PgRemoteDatabase, PgRemoteSession } from "drizzle-orm/pg-proxy";
import type { Db } from "./database.ts";
import type { PipelinedWork, PostgresClient, Rows } from "./postgres/postgres.ts";
import type { PostgresPool } from "./postgres/postgres_pool.ts";
import type { ObjectStore } from "./objects/object_store.ts";
import * as schema from "./schema.ts";

type Schema = typeof schema;
type Tables = ExtractTablesWithRelations<Schema>;

const dialect = new PgDialect();
const { tables, tableNamesMap } = extractTablesRelationalConfig<Tables>(schema, createTableRelationsHelpers);
const relations: RelationalSchemaConfig<Tables> = { fullSchema: schema, schema: tables, tableNamesMap };

/** drizzle's database on a pool or on one client. */
export function createPostgresDatabase(source: PostgresPool | PostgresClient): PgRemoteDatabase<Schema> {
  const db = new PgRemoteDatabase(dialect, new Session(source), relations);
  sources.set(db, source);
  return db;
}

const sources = new WeakMap<Db, PostgresPool | PostgresClient>();
const stores = new WeakMap<PostgresPool | PostgresClient, ObjectStore>();
/** One for each connection, so that statements that were built for it serve its later transactions, too. */
const transactions = new WeakMap<PostgresClient, Transaction>();

/** Gives a database, and its later transactions, the store of the bytes that it does not keep itself. */
export function attachObjectStore(db: Db, store: ObjectStore): void {
  stores.set(sourceOf(db), store);
}

/** The store of the bytes that a database, or the one of a transaction, does not keep itself; undefined where it keeps all. */
export function objectStoreOf(db: Db): ObjectStore | undefined {
  return stores.get(sourceOf(db));
}

/**
 * Runs a statement that another library has written, without drizzle's detour.
 *
 * @param db A database of createPostgresDatabase(), or one of its transactions.
 */
export function queryText(db: Db, text: string, values: readonly unknown[] = []): Promise<Rows> {
  return sourceOf(db).query(text, values);
}

/**
 * Runs a select whose values arrive as PostgreSQL holds them: bytes as they are, where text would be twice as long and take the server
 * longer to write than the rest of the answer, and text in UTF-8.
 *
 * @param db A database of createPostgresDatabase(), or one of its transactions.
 */
export async function queryBytes(db: Db, select: SQLWrapper): Promise<(Uint8Array | null)[][]> {
  // postgres.js asks for text, which does not matter to a binary cursor. A cursor's statement takes no parameters.
  const { sql } = dialect.sqlToQuery(select.getSQL().inlineParams());
  const text = `declare bytes no scroll binary cursor for ${sql}; fetch all in bytes; close bytes`;
  const rows = await sourceOf(db).query(text, [], "bytes");
  return rows.map((row) => {
    if (!Array.isArray(row)) throw new TypeError("Cannot read bytes: a row is not an array");
    return row.map((value) => value instanceof Uint8Array ? asPlain(value) : null);
  });
}

function asPlain({ buffer, byteOffset, byteLength }: Uint8Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/**
 * A transaction in less round trips; see inUnit().
 *
 * @param db A database of createPostgresDatabase(), and no transaction.
 * @param work See PostgresClient.pipelinedTransaction.
 */
export async function transactPipelined<Answer>(db: Db, work: PipelinedWork<Db, Answer>): Promise<Answer> {
  const source = sourceOf(db);
  return await source.pipelinedTransaction((client) => work(transactionOf(client, source)));
}

function sourceOf(db: Db): PostgresPool | PostgresClient {
  const source = sources.get(db);
  if (source === undefined) throw new TypeError("Cannot send a statement: the database has no connection of ours");
  return source;
}

function transactionOf(client: PostgresClient, source: PostgresPool | PostgresClient): Transaction {
  const store = stores.get(source);
  if (store !== undefined) stores.set(client, store);
  const tx = transactions.get(client) ?? new Transaction(client);
  transactions.set(client, tx);
  return tx;
}

/** drizzle's session for a driver that it does not know, with the transactions that it lacks. */
class Session extends PgRemoteSession<Schema, Tables> {
  readonly #source: PostgresPool | PostgresClient;

  constructor(source: PostgresPool | PostgresClient) {
    const run = async (text: string, values: readonly unknown[], method: "all" | "execute") => ({
      rows: await source.query(text, values, method === "all" ? "arrays" : "objects"),
    });
    super(run, dialect, relations);
    this.#source = source;
  }

  override async transaction<Answer>(
    work: (tx: Transaction) => Promise<Answer>,
    config?: PgTransactionConfig,
  ): Promise<Answer> {
    return await this.#source.transaction(async (client) => {
      const tx = transactionOf(client, this.#source);
      if (config !== undefined) await tx.setTransaction(config);
      return await work(tx);
    });
  }
}

class Transaction extends PgProxyTransaction<Schema, Tables> {
  readonly #client: PostgresClient;

  constructor(client: PostgresClient, nestedIndex = 0) {
    super(dialect, new Session(client), relations, nestedIndex);
    this.#client = client;
    sources.set(this, client);
  }

  override async transaction<Answer>(work: (tx: Transaction) => Promise<Answer>): Promise<Answer> {
    const nestedIndex = this.nestedIndex + 1;
    const nested = new Transaction(this.#client, nestedIndex);
    return await this.#client.savepoint(`nested_${nestedIndex}`, () => work(nested));
  }
}
