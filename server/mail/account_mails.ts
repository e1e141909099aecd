import type { BetterAuthOptions } from "better-auth";
import type { Mail } from "./mailer.ts";

const RESET_SECONDS = 3_600;
const VERIFICATION_SECONDS = 24 * 3_600;

export interface AccountMails {
  /** Takes a mail and does not wait for it: the time of an answer must not tell who has an account. */
  readonly send: (mail: Mail) => void;
  /** Where browsers reach the service. */
  readonly baseUrl: string;
  /** An account signs in only once its address is verified. */
  readonly mustVerify: boolean;
}

/** The library's settings for passwords that are set anew by mail. */
export function passwordMails(
  { send, baseUrl, mustVerify }: AccountMails,
  endAccess: (userId: string) => Promise<void>,
) {
  return {
    requireEmailVerification: mustVerify,
    resetPasswordTokenExpiresIn: RESET_SECONDS,
    sendResetPassword: ({ user, token }) => {
      // Behind a #, no proxy's log has it.
      const lines = [
        "Somebody asked to set a new password for your account at Hindcast. Set it here within an hour:",
        `${baseUrl}/reset-password#${token}`,
        "If it was not you, do nothing: your password stays as it is.",
      ];
      return Promise.resolve(send({ to: user.email, subject: "Set a new password", text: lines.join("\n\n") }));
    },
    // Somebody else may have signed in with the old one, and may have made tokens.
    onPasswordReset: ({ user }) => endAccess(user.id),
  } satisfies Partial<BetterAuthOptions["emailAndPassword"]>;
}

/** The library's settings for the verification of addresses. */
export function verificationMails({ send, baseUrl, mustVerify }: AccountMails) {
  return {
    sendOnSignUp: true,
    sendOnSignIn: mustVerify,
    autoSignInAfterVerification: true,
    expiresIn: VERIFICATION_SECONDS,
    sendVerificationEmail: ({ user, token }) => {
      const query = new URLSearchParams({ token, callbackURL: "/runs" });
      const lines = [
        "Open this link within a day to confirm that this is the address of your account at Hindcast:",
        `${baseUrl}/api/auth/verify-email?${query}`,
        "If you have made no account, do nothing.",
      ];
      return Promise.resolve(send({ to: user.email, subject: "Confirm your address", text: lines.join("\n\n") }));
    },
  } satisfies BetterAuthOptions["emailVerification"];
}
