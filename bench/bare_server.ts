/**
 * The least that a service of submissions does: a process with one route of Hono's, the session's statement, the body's JSON and the
 * statements of a submission; no schema, check, header or log.
 *
 * `deno run --allow-all bench/bare_server.ts embedded|PostgreSQL`: prints its address, and ends when its input does.
 */
import { Hono } from "hono";
import { PostgresClient } from "../db/postgres/postgres.ts";
import { session } from "../db/schema.ts";
import { openBare, OWNER, submitBare } from "./bare_submission.ts";

const TOKEN = "token";
const DAY_MS = 86_400_000;
const SESSION = `select s.id, s.expires_at, u.id as user_id, email, name, role from session s
  join "user" u on u.id = s.user_id where token = $1`;

const bare = await openBare(Deno.args[0] === "embedded" ? "embedded" : "PostgreSQL");
const { db, connection } = bare.handle;
const expiresAt = new Date(Date.now() + DAY_MS);
await db.insert(session).values({ id: TOKEN, token: TOKEN, userId: OWNER, expiresAt, updatedAt: new Date() });
const source = connection.kind === "pglite" ? connection.pool : await PostgresClient.connect(connection.url);

const app = new Hono();
app.post("/api/backtests", async (c) => {
  const [found] = await source.query(SESSION, [/token=([^;]*)/.exec(c.req.header("cookie") ?? "")?.[1]]);
  const { backtest } = await c.req.json();
  if (found === undefined || typeof backtest?.symbol !== "string") return c.json({}, 401);
  return c.json({ backtest: await source.pipelinedTransaction(submitBare) }, 202);
});
const onListen = ({ port }: Deno.NetAddr) =>
  void Deno.stdout.writeSync(new TextEncoder().encode(`http://127.0.0.1:${port}\n`));
const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen }, app.fetch);

await Deno.stdin.readable.pipeTo(new WritableStream());
await server.shutdown();
if (connection.kind === "postgres") await source.close();
await bare.close();
