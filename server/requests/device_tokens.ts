/** Signing a program in without giving it a password (RFC 8628): it shows a code, and a person confirms that code in a browser. */
import { APIError, createAuthEndpoint, createAuthMiddleware } from "better-auth/api";
import { deviceAuthorization, redeemDeviceCode } from "better-auth/plugins/device-authorization";
import { z } from "zod";
import { toAppError } from "../../routers/common/errors.ts";
import { NO_LINE, plainText } from "../../routers/common/plain_text.ts";
import { type IssuedToken, scopeSchema } from "../../routers/tokens.ts";

/** The console's page where a person confirms a code. */
const PAGE = "/device";
const GRANT = "urn:ietf:params:oauth:grant-type:device_code";

/** A program's name becomes its token's. */
const clientSchema = plainText(NO_LINE, 100).pipe(z.string().min(1));

/** A program's question for its token, which it repeats until a person has answered. */
const questionSchema = z.object({
  grant_type: z.literal(GRANT),
  device_code: z.string().max(191),
  client_id: z.string(),
});

type Scope = z.infer<typeof scopeSchema>;
type IssueToken = (
  user: object & { readonly id: string },
  asked: { name: string; scope: Scope },
) => Promise<IssuedToken>;

/**
 * The library's plugin for devices, which hands out one of our tokens in place of a session: it has a scope, an end, and a row on the
 * account's page.
 *
 * @param baseUrl Where a browser finds the console.
 * @param issue Makes a token of a user's. It throws AppError where it may not.
 */
export function deviceTokens(baseUrl: string, issue: IssueToken) {
  const plugin = deviceAuthorization({
    expiresIn: "10m",
    interval: "2s",
    verificationUri: new URL(PAGE, baseUrl).href,
    validateClient: (name) => clientSchema.safeParse(name).success,
    onDeviceAuthRequest: (_, scope) => void readScope(scope),
  });
  const deviceToken = createAuthEndpoint(
    "/device/token",
    { method: "POST", body: questionSchema, metadata: { noStore: true } },
    async (ctx) => {
      const { device_code: deviceCode, client_id: clientId } = ctx.body;
      const { claimedDeviceCode, user } = await redeemDeviceCode({
        ctx,
        deviceCode,
        authorizeRedemption: (record) => {
          if (record.clientId !== clientId) throw refuse("invalid_grant", "client_id must be the one that began");
          return Promise.resolve({ ownershipWhere: { field: "clientId", value: clientId }, context: undefined });
        },
        prepareRedemption: () => undefined,
      });
      const scope = readScope(claimedDeviceCode.scope);
      const { row, secret } = await issue(user, { name: clientId, scope }).catch((error: unknown) => {
        const { appCode, message } = toAppError(error);
        throw appCode === "INTERNAL" ? error : refuse("access_denied", message);
      });
      const seconds = Math.floor((row.expiresAt.getTime() - Date.now()) / 1000);
      return ctx.json({ access_token: secret, token_type: "Bearer", expires_in: seconds, scope });
    },
  );
  const refuseBinding = createAuthMiddleware((ctx) => {
    // The library would tie a stranger's code to any account that exists.
    if (ctx.body?.user_id !== undefined) throw refuse("invalid_request", "user_id must be left out");
    return Promise.resolve();
  });
  return {
    ...plugin,
    endpoints: { ...plugin.endpoints, deviceToken },
    hooks: { before: [{ matcher: ({ path }: { path?: string }) => path === "/device/code", handler: refuseBinding }] },
  };
}

function readScope(scope: string | null | undefined) {
  const parsed = scopeSchema.default("run").safeParse(scope ?? undefined);
  if (parsed.success) return parsed.data;
  throw refuse("invalid_scope", `scope must be one of ${scopeSchema.options.join(", ")}`);
}

function refuse(error: string, description: string): APIError {
  return new APIError("BAD_REQUEST", { error, error_description: description });
}
