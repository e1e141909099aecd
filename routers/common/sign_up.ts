/** The ways to treat strangers who want an account: to let them sign up, to ask for an invitation, or to leave accounts to admins. */
export const SIGN_UP = ["open", "invite", "closed"] as const;
