/** A person lets a program act for them: OAuth 2.1 with PKCE, for programs that know nothing but the address of /mcp. */
import { createHash, randomBytes } from "node:crypto";
import { z } from "zod";
import { keepAgentCode, takeAgentCode } from "../db/agent_codes.ts";
import type { Db } from "../db/client.ts";
import type { AgentSignIn } from "./common/agent_sign_in.ts";
import { AppError, mustBe, quote, validationFailed } from "./common/errors.ts";
import { inputObject } from "./common/input_object.ts";
import { requireRoomForToken } from "./common/quotas.ts";
import { readRole } from "../db/users.ts";
import { router, signedInProcedure } from "./common/trpc.ts";
import { type IssuedToken, issueToken } from "./tokens.ts";
import { type AgentClient, CLIENT_ID_LENGTH_MAX, isLoopback, isRegistered, readClientId } from "./agent_client_ids.ts";

/** The rights that a program can get in this way, the least first. */
export const AGENT_SCOPES = ["read", "run"] as const;

type AgentScope = (typeof AGENT_SCOPES)[number];

// The program asks for its token at once.
const CODE_MS = 120_000;
/** Longest query of a program's request. */
export const REQUEST_LENGTH_MAX = 8192;

/** A program's request (RFC 6749, 4.1.1, and RFC 7636, 4.3). Other parameters do not count. */
const requestSchema = z.object({
  client_id: z.string().max(CLIENT_ID_LENGTH_MAX),
  redirect_uri: z.string().max(500),
  response_type: z.literal("code"),
  code_challenge: z.string().regex(/^[\w-]{43}$/, mustBe("a SHA-256 as base64url")),
  code_challenge_method: z.literal("S256"),
  scope: z.string().max(200).default("run"),
  state: z.string().max(2000).optional(),
  resource: z.string().max(500).optional(),
});

type SignInRequest = z.infer<typeof requestSchema>;

/** The query that the program's browser came with. */
const querySchema = z.string().max(REQUEST_LENGTH_MAX);

export const agentsRouter = router({
  /** The program behind a request that a browser has brought, for the person who is to answer it. */
  find: signedInProcedure.input(inputObject({ request: querySchema }))
    .output(z.object({ name: z.string(), returns_to: z.string(), scope: z.enum(AGENT_SCOPES) }))
    .query(({ ctx, input }) => {
      const { request, client, scope } = readRequest(ctx.agentSignIn, input.request);
      const target = new URL(request.redirect_uri);
      const place = target.protocol === "https:" ? target.host : isLoopback(target) ? "this computer" : target.protocol;
      return { name: client.client_name, returns_to: place, scope };
    }),

  /** Lets the program in, or refuses it. @returns The address that tells the program, with a code in place of a token. */
  answer: signedInProcedure
    .input(inputObject({ request: querySchema, scope: z.enum(AGENT_SCOPES).nullable() }))
    .output(z.object({ redirect_to: z.string() }))
    .mutation(async ({ ctx, input: { request: query, scope } }) => {
      const { request, client } = readRequest(ctx.agentSignIn, query);
      const { redirect_uri: redirectUri, code_challenge: challenge } = request;
      if (scope === null) return { redirect_to: answerTo(ctx.agentSignIn, request, { error: "access_denied" }) };
      await requireRoomForToken(ctx.db, ctx.user.id);
      const code = randomBytes(32).toString("base64url");
      await keepAgentCode(ctx.db, {
        userId: ctx.user.id,
        codeSha256: sha256(code),
        name: client.client_name,
        scope,
        redirectUri,
        challenge,
        clientSha256: sha256(request.client_id),
        expiresAt: new Date(Date.now() + CODE_MS),
      });
      return { redirect_to: answerTo(ctx.agentSignIn, request, { code }) };
    }),
});

/** A program's question for its token. */
export interface CodeQuestion {
  readonly code: string;
  readonly clientId: string;
  readonly redirectUri: string;
  /** The text whose hash the request had. */
  readonly verifier: string;
}

/**
 * The token that a person's answer stands for. A code is good for one question, right or wrong.
 *
 * @returns Null for a code that is unknown, used, too old, another program's, or asked for with the wrong verifier.
 * @throws AppError QUOTA_EXCEEDED where the person has too many tokens.
 */
export async function redeemCode(
  db: Db,
  { code, clientId, redirectUri, verifier }: CodeQuestion,
): Promise<(IssuedToken & { readonly scope: AgentScope }) | null> {
  const kept = await takeAgentCode(db, sha256(code));
  if (kept === undefined || kept.isBanned || kept.expiresAt.getTime() <= Date.now()) return null;
  const { userId: id, role, name, scope } = kept;
  if (kept.clientSha256 !== sha256(clientId) || kept.redirectUri !== redirectUri) return null;
  if (createHash("sha256").update(verifier).digest("base64url") !== kept.challenge) return null;
  return { ...await issueToken(db, { id, role: readRole(role) }, { name, scope }), scope };
}

/** @throws AppError VALIDATION_FAILED where nothing may be answered: the address would be a stranger's. */
function readRequest(signIn: AgentSignIn, query: string): {
  readonly request: SignInRequest;
  readonly client: AgentClient;
  readonly scope: AgentScope;
} {
  const parsed = requestSchema.safeParse(readQuery(query));
  if (!parsed.success) throw validationFailed(parsed.error);
  const request = parsed.data;
  const { client_id, redirect_uri, scope, resource } = request;
  const client = readClientId(signIn.key, client_id);
  if (client === undefined) {
    throw refuse("client_id", "is not one that this service gave: have the program register anew");
  }
  if (!isRegistered(client, redirect_uri)) {
    throw refuse("redirect_uri", `is ${quote(redirect_uri)}, which the program did not register`);
  }
  if (resource !== undefined && !signIn.resources.some((each) => isWithin(each, resource))) {
    throw refuse("resource", `is ${quote(resource)}, and this service is ${signIn.resources.join(" or ")}`);
  }
  return { request, client, scope: readScope(scope) };
}

/** The parameters of a query; one that comes twice counts as none. */
function readQuery(query: string): Record<string, string> {
  const given = new URLSearchParams(query);
  return Object.fromEntries([...given].filter(([name]) => given.getAll(name).length === 1));
}

/** The most that is asked for; a person may give less. Words of other services do not count. */
function readScope(text: string): AgentScope {
  const words = text.split(" ");
  return words.includes("read") && !words.includes("run") ? "read" : "run";
}

/** True for the endpoint itself and for the service's address without a path. */
function isWithin(endpoint: string, resource: string): boolean {
  const named = resource.replace(/\/$/, "");
  return named === endpoint || named === new URL(endpoint).origin;
}

function answerTo({ issuer }: AgentSignIn, { redirect_uri, state }: SignInRequest, answer: Record<string, string>) {
  const url = new URL(redirect_uri);
  const parameters = { ...answer, ...(state === undefined ? {} : { state }), iss: issuer };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

function refuse(field: string, message: string): AppError {
  const issues = [{ path: `/${field}`, message }];
  return new AppError("VALIDATION_FAILED", `Cannot sign the program in: ${field} ${message}`, { issues });
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
