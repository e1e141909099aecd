/** The ways to treat strangers who want an account: to let them sign up, or to leave accounts to admins. */
export const SIGN_UP = ["open", "closed"] as const;
