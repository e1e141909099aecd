/** The rights that any user may give to a token. */
export const SCOPES = [
  { value: "read", label: "read: look at runs, strategies, data" },
  { value: "serve", label: "serve: only answer as serve:NAME" },
  { value: "run", label: "run: also submit, cancel, register" },
] as const;

/** The right that an admin may give, too. */
export const ADMIN_SCOPE = { value: "admin", label: "admin: also administer market data" } as const;
