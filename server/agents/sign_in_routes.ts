/** The public half of signing an agent in through the browser: documents, registration, and the exchange of a code for a token. */
import {
  buildOAuthProtectedResourceMetadata,
  getOAuthProtectedResourceMetadataUrl,
  type OAuthMetadata,
} from "@modelcontextprotocol/server";
import type { Context as HonoContext, Hono } from "hono";
import { z } from "zod";
import { AGENT_SCOPES, redeemCode, REQUEST_LENGTH_MAX } from "../../routers/agents.ts";
import { CLIENT_ID_LENGTH_MAX, clientSchema, writeClientId } from "../../routers/agent_client_ids.ts";
import type { AgentSignIn } from "../../routers/common/agent_sign_in.ts";
import type { Services } from "../../routers/common/trpc.ts";
import { toAppError } from "../../routers/common/errors.ts";
import { findUnstorable } from "../../routers/common/text.ts";
import { readForm, readJson, SMALL_BODY_BYTES_MAX } from "../middleware/body.ts";
import type { ServerEnv } from "../requests/context.ts";

/** The console's page where a person answers. */
const CONSENT_PAGE = "/connect";
const AUTHORIZE = "/oauth/authorize";
const REGISTER = "/oauth/register";
const TOKEN = "/oauth/token";
const GRANT = "authorization_code";

/** A program's question for its token (RFC 6749, 4.1.3, and RFC 7636, 4.5). */
const questionSchema = z.object({
  grant_type: z.literal(GRANT),
  code: z.string().max(200),
  client_id: z.string().max(CLIENT_ID_LENGTH_MAX),
  redirect_uri: z.string().max(500),
  code_verifier: z.string().min(43).max(128),
});

/** Refused in the words of OAuth, which its clients read. */
class Refusal extends Error {
  constructor(readonly code: string, message: string) {
    super(message);
  }
}

/**
 * Serves what a program needs that knows nothing but the address of /mcp. It stores nothing before a person has answered.
 *
 * @param stallMs The time after which a body is given up of which nothing arrives.
 */
export function serveAgentSignIn(
  app: Hono<ServerEnv>,
  { db, agentSignIn, stallMs }: Pick<Services, "db" | "agentSignIn"> & { readonly stallMs: number },
): void {
  const metadata = describeIssuer(agentSignIn.issuer);
  app.get("/.well-known/oauth-authorization-server", (c) => sendOpenly(c, metadata));
  for (const path of ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"]) {
    app.get(path, (c) => sendOpenly(c, describeResource(metadata, resourceAt(agentSignIn, c.req.url))));
  }
  app.get(AUTHORIZE, (c) => {
    // As one parameter, so that the console hands every character of it on.
    const request = new URL(c.req.url).search.slice(1);
    if (request.length <= REQUEST_LENGTH_MAX) return c.redirect(`${CONSENT_PAGE}?${new URLSearchParams({ request })}`);
    return c.json({ error: "invalid_request", error_description: "the query is too long" }, 400);
  });
  app.post(
    REGISTER,
    answerOAuth(async (c) => {
      const body = await readJson(c, { isOptional: false, stallMs, bytesMax: SMALL_BODY_BYTES_MAX });
      const client = parse(
        clientSchema,
        body,
        (field) => field === "redirect_uris" ? "invalid_redirect_uri" : "invalid_client_metadata",
      );
      const unstorable = findUnstorable(client);
      if (unstorable !== undefined) {
        throw new Refusal("invalid_client_metadata", `client_name ${unstorable.message}`);
      }
      const clientId = writeClientId(agentSignIn.key, client);
      if (clientId.length > CLIENT_ID_LENGTH_MAX) {
        throw new Refusal("invalid_client_metadata", "client_name and redirect_uris are too long together");
      }
      return c.json({
        client_id: clientId,
        client_id_issued_at: Math.floor(Date.now() / 1000),
        ...client,
        grant_types: [GRANT],
        response_types: ["code"],
        token_endpoint_auth_method: "none",
        scope: AGENT_SCOPES.join(" "),
      }, 201);
    }),
  );
  app.post(
    TOKEN,
    answerOAuth(async (c) => {
      const form = Object.fromEntries(await readForm(c, { stallMs, bytesMax: SMALL_BODY_BYTES_MAX }));
      if (form.grant_type !== GRANT) throw new Refusal("unsupported_grant_type", `grant_type must be ${GRANT}`);
      const { code, client_id: clientId, redirect_uri: redirectUri, code_verifier: verifier } = parse(
        questionSchema,
        form,
        () => "invalid_request",
      );
      const issued = await redeemCode(db, { code, clientId, redirectUri, verifier });
      if (issued === null) {
        throw new Refusal("invalid_grant", "the code is unknown, used, too old, or another program's: sign in again");
      }
      const { secret, row: { expiresAt }, scope } = issued;
      const seconds = Math.floor((expiresAt.getTime() - Date.now()) / 1000);
      return c.json({ access_token: secret, token_type: "Bearer", expires_in: seconds, scope });
    }),
  );
}

/** The challenge that tells a program without a token where to get one. */
export function challengeOf(signIn: AgentSignIn, url: string, isRefused: boolean): string {
  const document = getOAuthProtectedResourceMetadataUrl(new URL(resourceAt(signIn, url)));
  const error = isRefused ? `error="invalid_token", ` : "";
  return `Bearer ${error}resource_metadata="${document}", scope="${AGENT_SCOPES.join(" ")}"`;
}

/** The endpoint's address by the name that the caller has for the service; the first where a proxy hides that name. */
function resourceAt({ resources, issuer }: AgentSignIn, url: string): string {
  const { origin } = new URL(url);
  return resources.find((each) => new URL(each).origin === origin) ?? resources[0] ?? issuer;
}

function describeIssuer(issuer: string): OAuthMetadata {
  return {
    issuer,
    authorization_endpoint: `${issuer}${AUTHORIZE}`,
    token_endpoint: `${issuer}${TOKEN}`,
    registration_endpoint: `${issuer}${REGISTER}`,
    scopes_supported: [...AGENT_SCOPES],
    response_types_supported: ["code"],
    grant_types_supported: [GRANT],
    token_endpoint_auth_methods_supported: ["none"],
    code_challenge_methods_supported: ["S256"],
    authorization_response_iss_parameter_supported: true,
    service_documentation: `${issuer}/llms.txt`,
  };
}

function describeResource(oauthMetadata: OAuthMetadata, resource: string) {
  return buildOAuthProtectedResourceMetadata({
    oauthMetadata,
    resourceServerUrl: new URL(resource),
    scopesSupported: [...AGENT_SCOPES],
    resourceName: "Hindcast",
    // The operator decides by BASE_URL: passwords and tokens take the same way.
    dangerouslyAllowInsecureIssuerUrl: true,
  });
}

/** Pages of any origin may read the documents: they are the same for everybody. */
function sendOpenly(c: HonoContext, document: object): Response {
  c.header("access-control-allow-origin", "*");
  return c.json(document);
}

/** Answers a refusal as OAuth's clients read it, with the status 400 that they expect. */
function answerOAuth(answer: (c: HonoContext<ServerEnv>) => Promise<Response>) {
  return async (c: HonoContext<ServerEnv>): Promise<Response> => {
    c.header("access-control-allow-origin", "*");
    try {
      return await answer(c);
    } catch (error) {
      if (error instanceof Refusal) return c.json({ error: error.code, error_description: error.message }, 400);
      const { appCode, message } = toAppError(error);
      if (appCode === "QUOTA_EXCEEDED") return c.json({ error: "access_denied", error_description: message }, 400);
      throw error;
    }
  };
}

/** @throws Refusal that names the first field that is wrong. */
function parse<Output>(schema: z.ZodType<Output>, given: unknown, codeOf: (field: string) => string): Output {
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const [{ path, message } = { path: [], message: "is wrong" }] = parsed.error.issues;
  throw new Refusal(codeOf(String(path[0] ?? "")), `${path.join(".") || "the body"} ${message}`);
}
