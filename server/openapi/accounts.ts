/** The usual routes of the authentication library, which has no schemas of ours. */
import { z } from "zod";
import type { ErrorCode } from "../../routers/common/errors.ts";
import { scopeSchema } from "../../routers/tokens.ts";
import { ROLES } from "../../routers/session.ts";
import { USER_NAME_LENGTH_MAX } from "../middleware/body.ts";
import { PASSWORD_LENGTHS } from "../requests/auth.ts";

/** A route below /api/auth. */
export interface AccountRoute {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly summary: string;
  readonly access: "public" | "signed-in" | "admin";
  readonly body?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly output: z.ZodType;
  readonly codes?: readonly ErrorCode[];
  readonly example?: unknown;
  readonly setsCookie?: true;
  /** A refusal with the status 400 that is not of the service's usual shape. */
  readonly refused?: z.ZodType;
}

const password = z.string().min(PASSWORD_LENGTHS.least).max(PASSWORD_LENGTHS.most);
const userName = z.string().max(USER_NAME_LENGTH_MAX);
const moment = z.iso.datetime();
const user = z.looseObject({
  id: z.string(),
  name: z.string(),
  email: z.email(),
  emailVerified: z.boolean(),
  role: z.string().nullable().optional().describe(`${ROLES.join(" or ")}; null is user.`),
  createdAt: moment,
  updatedAt: moment,
}).meta({ id: "Account" });
const session = z.looseObject({
  id: z.string(),
  token: z.string(),
  userId: z.string(),
  expiresAt: moment,
  createdAt: moment,
  ipAddress: z.string().nullable().optional(),
  userAgent: z.string().nullable().optional(),
}).meta({ id: "AccountSession" });
const signedIn = z.looseObject({ token: z.string().nullable(), user });
const done = z.looseObject({ success: z.boolean() });
const status = z.looseObject({ status: z.boolean() });
const userId = z.object({ userId: z.string() });
const credentials = { email: "ada@example.com", password: "correct horse battery" };

const deviceRefusal = z.object({
  error: z.string().describe("The word of RFC 8628: authorization_pending, slow_down, access_denied, expired_token …"),
  error_description: z.string().describe("The same in words."),
}).meta({ id: "DeviceRefusal" });
const userCode = z.string();
const clientId = z.string().describe("The program's name, which its token will have.");
const deviceScope = scopeSchema.describe("The scope of the token.");

export const ACCOUNT_ROUTES: readonly AccountRoute[] = [
  {
    method: "POST",
    path: "/sign-up/email",
    summary: "Make an account and sign in",
    access: "public",
    body: z.object({
      name: userName,
      email: z.email(),
      password,
      invitation: z.string().optional().describe("Where the service runs with SIGN_UP=invite."),
    }),
    output: signedIn,
    codes: ["VALIDATION_FAILED", "FORBIDDEN"],
    example: { name: "Ada", ...credentials },
    setsCookie: true,
  },
  {
    method: "POST",
    path: "/sign-in/email",
    summary: "Sign in",
    access: "public",
    body: z.object({ email: z.email(), password: z.string() }),
    output: signedIn,
    codes: ["VALIDATION_FAILED", "UNAUTHENTICATED", "FORBIDDEN"],
    example: credentials,
    setsCookie: true,
  },
  {
    method: "POST",
    path: "/sign-in/social",
    summary: "Begin to sign in through the service's provider of identities (OIDC_ISSUER)",
    access: "public",
    body: z.object({
      provider: z.literal("oidc").describe("The one that there is."),
      callbackURL: z.string().describe("The page to go to when signed in, such as /runs."),
      errorCallbackURL: z.string().optional().describe("The page that gets the reason of a refusal as ?error=."),
    }),
    output: z.looseObject({
      url: z.url().describe("Where to send the browser."),
      redirect: z.boolean().describe("True."),
    }),
    codes: ["VALIDATION_FAILED", "PROVIDER_FAILED"],
    setsCookie: true,
  },
  { method: "POST", path: "/sign-out", summary: "End the session", access: "public", output: done },
  {
    method: "GET",
    path: "/get-session",
    summary: "The session and its user, or null",
    access: "public",
    output: z.object({ session, user }).nullable(),
  },
  {
    method: "GET",
    path: "/list-sessions",
    summary: "The account's sessions",
    access: "signed-in",
    output: z.array(session),
  },
  {
    method: "POST",
    path: "/revoke-session",
    summary: "End a session of the account",
    access: "signed-in",
    body: z.object({ token: z.string() }),
    output: status,
  },
  {
    method: "POST",
    path: "/revoke-other-sessions",
    summary: "End the account's other sessions",
    access: "signed-in",
    output: status,
  },
  {
    method: "POST",
    path: "/change-password",
    summary: "Change the password, which ends the account's other sessions",
    access: "signed-in",
    body: z.object({ currentPassword: z.string(), newPassword: password }),
    output: signedIn,
    setsCookie: true,
  },
  {
    method: "POST",
    path: "/request-password-reset",
    summary: "Have a link mailed with which to set a new password, where the service sends mails",
    access: "public",
    body: z.object({ email: z.email() }),
    output: status.extend({ message: z.string() }),
    codes: ["VALIDATION_FAILED"],
  },
  {
    method: "POST",
    path: "/reset-password",
    summary: "Set a new password by a mailed link, which ends the account's sessions and revokes its tokens",
    access: "public",
    body: z.object({
      token: z.string().describe("What follows # in the link; it counts once and for an hour."),
      newPassword: password,
    }),
    output: status,
    codes: ["VALIDATION_FAILED"],
  },
  {
    method: "POST",
    path: "/delete-user",
    summary: "Delete the account with all its runs, strategies, universes and tokens, at once and for good",
    access: "signed-in",
    body: z.object({ password: z.string() }),
    output: done,
    codes: ["VALIDATION_FAILED"],
    setsCookie: true,
  },
  {
    method: "POST",
    path: "/device/code",
    summary: "Begin to sign a program in through a browser (RFC 8628)",
    access: "public",
    body: z.object({ client_id: clientId, scope: deviceScope.default("run") }),
    output: z.object({
      device_code: z.string().describe("The program's secret, with which it asks for its token."),
      user_code: userCode,
      verification_uri: z.url().describe("The page on which a person enters the code."),
      verification_uri_complete: z.url().describe("The same page with the code."),
      expires_in: z.int().describe("Seconds until the code ends."),
      interval: z.int().describe("Seconds to wait between two questions."),
    }),
    example: { client_id: "nightly runs", scope: "run" },
    refused: deviceRefusal,
  },
  {
    method: "POST",
    path: "/device/token",
    summary: "Ask for the program's token, until a person has confirmed its code",
    access: "public",
    body: z.object({
      grant_type: z.literal("urn:ietf:params:oauth:grant-type:device_code").describe("What RFC 8628 says."),
      device_code: z.string().describe("The program's secret."),
      client_id: clientId,
    }),
    output: z.object({
      access_token: z.string().describe("A token, as POST /api/tokens makes."),
      token_type: z.literal("Bearer").describe("How it is sent: `Authorization: Bearer`."),
      expires_in: z.int().describe("Seconds until the token ends."),
      scope: deviceScope,
    }),
    refused: deviceRefusal,
  },
  {
    method: "GET",
    path: "/device",
    summary: "Look at a program's request, which becomes the caller's to answer",
    access: "signed-in",
    query: z.object({ user_code: userCode }),
    output: z.object({
      user_code: userCode,
      status: z.enum(["pending", "approved", "denied"]).describe("What became of the request."),
      client_id: clientId.optional(),
      scope: deviceScope.optional(),
    }),
    codes: ["VALIDATION_FAILED"],
  },
  {
    method: "POST",
    path: "/device/approve",
    summary: "Let the program have a token of the caller's",
    access: "signed-in",
    body: z.object({ userCode }),
    output: done,
    codes: ["FORBIDDEN"],
  },
  {
    method: "POST",
    path: "/device/deny",
    summary: "Refuse the program",
    access: "signed-in",
    body: z.object({ userCode }),
    output: done,
    codes: ["FORBIDDEN"],
  },
  {
    method: "GET",
    path: "/admin/list-users",
    summary: "Users, for admins",
    access: "admin",
    query: z.object({
      filterField: z.string().optional(),
      filterOperator: z.enum(["eq", "contains"]).optional(),
      filterValue: z.string().optional(),
      limit: z.string().optional(),
      offset: z.string().optional(),
    }),
    output: z.looseObject({ users: z.array(user), total: z.number() }),
  },
  {
    method: "POST",
    path: "/admin/create-user",
    summary: "Make an account for somebody",
    access: "admin",
    body: z.object({ name: userName, email: z.email(), password, role: z.enum(ROLES).optional() }),
    output: z.looseObject({ user }),
    example: { name: "Bo", email: "bo@example.com", password: "correct horse bo" },
  },
  {
    method: "POST",
    path: "/admin/set-user-password",
    summary: "Set a user's password, which ends their sessions and revokes their tokens",
    access: "admin",
    body: userId.extend({ newPassword: password }),
    output: status,
  },
  {
    method: "POST",
    path: "/admin/set-role",
    summary: "Set a user's role",
    access: "admin",
    body: userId.extend({ role: z.enum(ROLES) }),
    output: z.looseObject({ user }),
  },
  {
    method: "POST",
    path: "/admin/remove-user",
    summary: "Remove a user with all their records",
    access: "admin",
    body: userId,
    output: done,
  },
];
