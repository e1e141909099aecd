/** The settings of the bucket in which candles and results live. */
import { z } from "zod";
import { setting } from "./settings.ts";
import { webOrigin } from "./setting_values.ts";

export const objectSettings = z.object({
  endpoint: setting(
    "S3_ENDPOINT",
    webOrigin.optional(),
    "Origin of a server with the S3 API: new candles and results live in its `S3_BUCKET`, and the database keeps records and jobs.",
  ),
  bucket: setting(
    "S3_BUCKET",
    z.string().regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, { error: "must be the name of a bucket" }).optional(),
    "Name of the bucket; required with `S3_ENDPOINT`.",
  ),
  region: setting(
    "S3_REGION",
    z.string().regex(/^[a-z0-9-]+$/, { error: "must be the name of a region" }).default("us-east-1"),
    "Region of the bucket.",
  ),
  accessKeyId: setting("S3_ACCESS_KEY_ID", z.string().optional(), "Name of the key to the bucket."),
  secretAccessKey: setting("S3_SECRET_ACCESS_KEY", z.string().optional(), "The key to the bucket.", { isSecret: true }),
  newBytes: setting(
    "S3_NEW_BYTES",
    z.enum(["bucket", "database"], { error: "must be bucket or database" }).default("bucket"),
    "Where new candles and results live; with `database`, the bucket is only read, on the way out of it: that needs one.",
  ),
});

type ObjectSettings = z.output<typeof objectSettings>;

/** The bucket for candles and results; undefined where the database keeps them, or a setting is missing. */
export function readBucket({ endpoint, bucket, region, accessKeyId, secretAccessKey, newBytes }: ObjectSettings) {
  return endpoint === undefined || bucket === undefined || accessKeyId === undefined || secretAccessKey === undefined
    ? undefined
    : { endpoint, bucket, region, accessKeyId, secretAccessKey, takesNew: newBytes === "bucket" };
}

/** True if all settings of the bucket are set, or none. */
export function isBucketWhole(settings: ObjectSettings): boolean {
  const { endpoint, bucket, accessKeyId, secretAccessKey } = settings;
  const isUnset = [endpoint, bucket, accessKeyId, secretAccessKey].every((value) => value === undefined);
  return isUnset || readBucket(settings) !== undefined;
}
