import { isBucketWhole } from "./object_settings.ts";

/** The settings that depend on others. */
interface Related {
  readonly databaseUrl?: string | undefined;
  readonly authSecret?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly workers: number;
  readonly smtpUrl?: URL | undefined;
  readonly mailFrom?: string | undefined;
  readonly mailVerification: "on" | "off";
  readonly openIdIssuer?: string | undefined;
  readonly openIdClientId?: string | undefined;
  readonly openIdClientSecret?: string | undefined;
  readonly objects: Parameters<typeof isBucketWhole>[0];
}

/** The rule between settings that is broken, in words; undefined for none. */
export function findFault(settings: Related, isDeployed: boolean): string | undefined {
  const { databaseUrl, authSecret, smtpUrl, mailFrom, mailVerification } = settings;
  if (isDeployed) {
    const fault = findHostedFault(settings);
    if (fault !== undefined) return fault;
  }
  if (databaseUrl !== undefined && authSecret === undefined) {
    return "BETTER_AUTH_SECRET must be set with DATABASE_URL, the same for every process";
  }
  if (smtpUrl !== undefined && mailFrom === undefined) {
    return "MAIL_FROM must be set with SMTP_URL, as Hindcast <hindcast@example.com>";
  }
  if (mailFrom !== undefined && smtpUrl === undefined) return "SMTP_URL must be set with MAIL_FROM, or no mail is sent";
  if (smtpUrl === undefined && mailVerification === "on") return "SMTP_URL must be set for MAIL_VERIFICATION=on";
  if (!isBucketWhole(settings.objects)) {
    return "S3_ENDPOINT, S3_BUCKET, S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY must be set together";
  }
  if (settings.objects.newBytes === "database" && settings.objects.bucket === undefined) {
    return "S3_BUCKET must be set with S3_NEW_BYTES=database, which moves out of it: unset S3_NEW_BYTES without one";
  }
  const openId = [settings.openIdIssuer, settings.openIdClientId, settings.openIdClientSecret];
  return new Set(openId.map((value) => value === undefined)).size === 1
    ? undefined
    : "OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET must be set together";
}

/** This service as a client of the provider of identities; undefined where none is set. */
export function readOpenIdClient(
  { openIdIssuer: issuer, openIdClientId: clientId, openIdClientSecret: clientSecret }: Related,
) {
  return issuer === undefined || clientId === undefined || clientSecret === undefined
    ? undefined
    : { issuer, clientId, clientSecret };
}

/** Deno Deploy keeps no files, starts no processes, and serves under a name of its own. */
function findHostedFault({ databaseUrl, baseUrl, workers }: Related): string | undefined {
  if (databaseUrl === undefined) return "DATABASE_URL must be set on Deno Deploy, which keeps no files";
  if (baseUrl === undefined) return "BASE_URL must be set on Deno Deploy, or no browser could sign in";
  if (workers === 0) return undefined;
  return `WORKERS must be 0 on Deno Deploy, which starts no processes, not "${workers}": run workers elsewhere`;
}
