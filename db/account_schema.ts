/** The tables of the authentication library, with its admin plugin's columns, and those of ours about accounts. */
import { boolean, index, integer, jsonb, pgTable, text, timestamp } from "drizzle-orm/pg-core";

const moment = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: "date" });

/** The limits of one user, by the names under which admins set them. */
export const QUOTA_NAMES = {
  backtests_max: "backtestsMax",
  optimizations_max: "optimizationsMax",
  result_bytes_max: "resultBytesMax",
  versions_max: "versionsMax",
  registry_bytes_max: "registryBytesMax",
} as const;

/** The limits of one user. */
export interface Quotas {
  /** Queued and running backtests. */
  readonly backtestsMax: number;
  /** Queued and running optimizations. */
  readonly optimizationsMax: number;
  /** Bytes of all backtests and optimizations with their results; a user above it submits no more. */
  readonly resultBytesMax: number;
  /** Versions of registered strategies. */
  readonly versionsMax: number;
  /** Bytes of the modules of these versions and of modules that came with backtests. */
  readonly registryBytesMax: number;
}

export const user = pgTable("user", {
  id: text("id").primaryKey(),
  name: text("name").notNull(),
  email: text("email").notNull().unique(),
  emailVerified: boolean("email_verified").notNull().default(false),
  image: text("image"),
  createdAt: moment("created_at").notNull().defaultNow(),
  updatedAt: moment("updated_at").notNull().defaultNow(),
  role: text("role"),
  banned: boolean("banned").default(false),
  banReason: text("ban_reason"),
  banExpires: moment("ban_expires"),
  /** The user's own, which take the place of the settings'. */
  quotas: jsonb("quotas").$type<Partial<Quotas>>(),
});

export const session = pgTable("session", {
  id: text("id").primaryKey(),
  expiresAt: moment("expires_at").notNull(),
  token: text("token").notNull().unique(),
  createdAt: moment("created_at").notNull().defaultNow(),
  updatedAt: moment("updated_at").notNull().defaultNow(),
  ipAddress: text("ip_address"),
  userAgent: text("user_agent"),
  userId: text("user_id").notNull().references(() => user.id, { onDelete: "cascade" }),
  impersonatedBy: text("impersonated_by"),
}, (table) => [index("session_user_index").on(table.userId)]);

export const account = pgTable("account", {
  id: text("id").primaryKey(),
  accountId: text("account_id").notNull(),
  providerId: text("provider_id").notNull(),
  userId: text("user_id").notNull().references(() => user.id, { onDelete: "cascade" }),
  accessToken: text("access_token"),
  refreshToken: text("refresh_token"),
  idToken: text("id_token"),
  accessTokenExpiresAt: moment("access_token_expires_at"),
  refreshTokenExpiresAt: moment("refresh_token_expires_at"),
  scope: text("scope"),
  password: text("password"),
  createdAt: moment("created_at").notNull().defaultNow(),
  updatedAt: moment("updated_at").notNull().defaultNow(),
}, (table) => [index("account_user_index").on(table.userId)]);

export const verification = pgTable("verification", {
  id: text("id").primaryKey(),
  identifier: text("identifier").notNull(),
  value: text("value").notNull(),
  expiresAt: moment("expires_at").notNull(),
  createdAt: moment("created_at").notNull().defaultNow(),
  updatedAt: moment("updated_at").notNull().defaultNow(),
}, (table) => [index("verification_identifier_index").on(table.identifier)]);

/** Requests of programs to be signed in by a person in a browser: of the library's plugin for devices. */
export const deviceCode = pgTable("device_codes", {
  id: text("id").primaryKey(),
  deviceCode: text("device_code").notNull().unique(),
  userCode: text("user_code").notNull().unique(),
  userId: text("user_id").references(() => user.id, { onDelete: "cascade" }),
  expiresAt: moment("expires_at").notNull(),
  status: text("status").notNull(),
  lastPolledAt: moment("last_polled_at"),
  pollingInterval: integer("polling_interval"),
  clientId: text("client_id"),
  scope: text("scope"),
});

/** A person's answer to a program that asked in a browser to act for them, until it has its token. */
export const agentCodes = pgTable("agent_codes", {
  userId: text("user_id").primaryKey().references(() => user.id, { onDelete: "cascade" }),
  /** Of the code, hexadecimal, as the other hashes. */
  codeSha256: text("code_sha256").notNull().unique(),
  clientSha256: text("client_sha256").notNull(),
  /** The program's name, which its token gets. */
  name: text("name").notNull(),
  scope: text("scope", { enum: ["read", "run"] }).notNull(),
  redirectUri: text("redirect_uri").notNull(),
  /** The hash that the program's verifier must have (RFC 7636). */
  challenge: text("challenge").notNull(),
  expiresAt: moment("expires_at").notNull(),
});

/** The rights that a token may have. */
export const SCOPES = ["serve", "read", "run", "admin"] as const;

/** Programs' tokens, which stand in for a session. */
export const tokens = pgTable("tokens", {
  /** The token's first part, which is not secret. */
  id: text("id").primaryKey(),
  userId: text("user_id").notNull().references(() => user.id, { onDelete: "cascade" }),
  name: text("name").notNull(),
  scope: text("scope", { enum: SCOPES }).notNull(),
  /** The SHA-256 of the secret part, hexadecimal. The secret is as random as a key, so that a slow hash would add nothing. */
  secretSha256: text("secret_sha256").notNull(),
  createdAt: moment("created_at").notNull().defaultNow(),
  expiresAt: moment("expires_at").notNull(),
  /** To the minute; null until its first use. */
  lastUsedAt: moment("last_used_at"),
}, (table) => [index("tokens_user_index").on(table.userId)]);
