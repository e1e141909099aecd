import type { BetterAuthOptions } from "better-auth";
import { betterAuth } from "better-auth/minimal";
import { AppError } from "../../routers/common/errors.ts";
import { NO_LINE } from "../../routers/common/plain_text.ts";

/** A provider of identities (OpenID Connect), and this service as its client. */
export interface OpenIdClient {
  /** The address below which `/.well-known/openid-configuration` is. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** The provider's id below /api/auth. */
const PROVIDER = "oidc";
/** The path below /api/auth to which the provider sends browsers back. */
export const OPEN_ID_CALLBACK = `/callback/${PROVIDER}`;
const PATHS: ReadonlySet<string> = new Set(["/api/auth/sign-in/social", `/api/auth${OPEN_ID_CALLBACK}`]);
const PROVIDER_MS = 15_000;

/** Signs users in through a provider of identities. */
export interface OpenId {
  /** True if a path is one of this way to sign in. */
  serves(path: string): boolean;
  /** Answers a request. @throws AppError PROVIDER_FAILED where the provider does not answer as one. */
  handle(request: Request): Promise<Response>;
}

/**
 * Adds a provider to the authentication library.
 *
 * The library asks the provider for its addresses once. It is therefore set up at the first use, and again where that failed: the
 * service starts and serves passwords while the provider is down.
 *
 * @param library The library's options without the provider.
 */
export function createOpenId(
  library: BetterAuthOptions & { readonly baseURL: string },
  client: OpenIdClient,
  mustVerify: boolean,
): OpenId {
  let opened: ReturnType<typeof openProvider> | undefined;
  return {
    serves: (path) => PATHS.has(path),
    async handle(request) {
      opened ??= openProvider(library, client, mustVerify);
      const handler = await withinTime(client, opened).catch((error) => {
        opened = undefined;
        throw error;
      });
      return await withinTime(client, handler(request));
    },
  };
}

async function openProvider(
  library: BetterAuthOptions & { readonly baseURL: string },
  { issuer, clientId, clientSecret }: OpenIdClient,
  mustVerify: boolean,
) {
  const { genericOAuth } = await import("better-auth/plugins/generic-oauth");
  const provider = genericOAuth({
    config: [{
      providerId: PROVIDER,
      discoveryUrl: `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`,
      clientId,
      clientSecret,
      scopes: ["openid", "email", "profile"],
      requireIdTokenVerification: true,
      requireEmailVerification: mustVerify,
      // Some providers send no name. What a sign-up would refuse in one is left out.
      mapProfileToUser: ({ name, email }) => ({
        name: (name || email?.split("@")[0] || "").replaceAll(new RegExp(NO_LINE, "gu"), ""),
      }),
    }],
  });
  const auth = betterAuth({
    ...library,
    plugins: [...library.plugins ?? [], provider],
    onAPIError: { ...library.onAPIError, errorURL: `${library.baseURL}/sign-in` },
    account: { updateAccountOnSignIn: false },
    // Nothing is asked of the provider later, so its tokens are not kept.
    databaseHooks: {
      account: {
        create: {
          before: (account) =>
            Promise.resolve({ data: { ...account, accessToken: null, refreshToken: null, idToken: null } }),
        },
      },
    },
  });
  const { socialProviders } = await auth.$context;
  if (socialProviders.some(({ id }) => id === PROVIDER)) return auth.handler;
  throw unusable(issuer, "answers no usable discovery document");
}

async function withinTime<T>({ issuer }: OpenIdClient, result: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(unusable(issuer, "has not answered in time")), PROVIDER_MS);
  try {
    return await Promise.race([result, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

function unusable(issuer: string, fault: string): AppError {
  return new AppError("PROVIDER_FAILED", `Cannot sign in: the provider of identities at ${issuer} ${fault}`);
}
