import { z } from "zod";

/** A setting of the service: an environment variable and its sentence in the documentation. */
interface Setting {
  readonly variable: string;
  readonly description: string;
  /** Describes the default where the schema has none, or one that depends on the machine. */
  readonly unset?: string;
  /** Error messages do not quote its value. */
  readonly isSecret?: true;
}

const settings = z.registry<Setting>();

/**
 * Declares a setting: a field of the configuration's schema that is read from an environment variable.
 *
 * @param schema Reads the variable's text, or `undefined` where it is unset.
 * @param description One sentence for the table of settings, in Markdown.
 */
export function setting<Schema extends z.ZodType>(
  variable: string,
  schema: Schema,
  description: string,
  more: Pick<Setting, "unset" | "isSecret"> = {},
): Schema {
  // A clone: the registry holds one entry per schema, and several settings may share one.
  const own = schema.clone();
  settings.add(own, { variable, description, ...more });
  return own;
}

/** A row of the table of settings. */
export interface SettingRow {
  readonly variable: string;
  /** Markdown. */
  readonly defaultText: string;
  readonly description: string;
  readonly isSecret: boolean;
}

/** Every setting below a schema, in the order of declaration. */
export function listSettings(schema: z.ZodObject): SettingRow[] {
  return Object.values(schema.shape).flatMap((field) => {
    if (field instanceof z.ZodObject) return listSettings(field);
    const found = settings.get(field);
    if (found === undefined) return [];
    const { variable, description, unset, isSecret = false } = found;
    const defaultText = unset ?? describeDefault(field.safeParse(undefined).data);
    return [{ variable, description, defaultText, isSecret }];
  });
}

/** A wrong value of one setting. */
export class SettingError extends Error {
  override readonly name = "SettingError";
}

/**
 * Reads the settings below a schema.
 *
 * @param environment Variables by name; an empty value counts as unset.
 * @throws SettingError with the variable and the rule that its value breaks, without the value where that is a secret.
 */
export function readSettings<Schema extends z.ZodObject>(
  schema: Schema,
  environment: Readonly<Record<string, string | undefined>>,
): z.output<Schema> {
  const parsed = schema.safeParse(collect(schema, environment));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const found = settingAt(schema, issue?.path ?? []);
  if (issue === undefined || found === undefined) throw parsed.error;
  const given = found.isSecret === true ? "" : `, not ${JSON.stringify(environment[found.variable])}`;
  throw new SettingError(`${found.variable} ${issue.message}${given}`);
}

function collect(
  schema: z.ZodObject,
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(schema.shape).map(([key, field]) => {
      if (field instanceof z.ZodObject) return [key, collect(field, environment)];
      const variable = settings.get(field)?.variable;
      return [key, (variable === undefined ? undefined : environment[variable]) || undefined];
    }),
  );
}

function settingAt(schema: z.ZodObject, [key, ...rest]: readonly PropertyKey[]): Setting | undefined {
  const field: unknown = key === undefined ? undefined : Reflect.get(schema.shape, key);
  if (field instanceof z.ZodObject) return settingAt(field, rest);
  return field instanceof z.ZodType ? settings.get(field) : undefined;
}

function describeDefault(value: unknown): string {
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return "none";
  if (typeof value !== "object" || value === null) return `\`${value}\``;
  return `\`${Object.entries(value).map(([key, each]) => `${key}=${each}`).join()}\``;
}
