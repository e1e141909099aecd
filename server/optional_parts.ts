/** The parts that most services go without: nothing of theirs is loaded until a setting asks for it. */
import { type Config, unusable } from "./config.ts";
import type { Mailer } from "./mail/mailer.ts";
import type { MetricsPage } from "./metrics_page.ts";

export type MeasureRequest = MetricsPage["measureRequest"];

/**
 * Serves metrics where METRICS_ADDRESS is set. Comes before all that measures.
 *
 * @throws ConfigError when it cannot.
 */
export async function openMetrics(
  { metricsAddress }: Config,
  version: string,
  opened: AsyncDisposableStack,
): Promise<MeasureRequest | undefined> {
  if (metricsAddress === undefined) return undefined;
  const { openMetricsPage } = await import("./metrics_page.ts");
  const page = openMetricsPage(metricsAddress, version);
  opened.defer(() => page.close());
  return page.measureRequest;
}

/** Prepares to send mails where SMTP_URL is set. */
export async function openMailer(
  { smtpUrl, mailFrom, baseUrl }: Config,
  opened: AsyncDisposableStack,
): Promise<Mailer | undefined> {
  if (smtpUrl === undefined || mailFrom === undefined) return undefined;
  const { Mailer } = await import("./mail/mailer.ts");
  const hostname = baseUrl === undefined ? "localhost" : new URL(baseUrl).hostname;
  const mailer = new Mailer({ server: smtpUrl, from: mailFrom, hostname });
  opened.defer(() => mailer.close());
  return mailer;
}

/** Looks at the folder of wheels, where one is named. @throws ConfigError when it cannot be read. */
export async function requireWheels({ python, pythonWheels }: Config): Promise<void> {
  if (python === "off" || pythonWheels === "") return;
  try {
    await Array.fromAsync(Deno.readDir(pythonWheels));
  } catch (error) {
    throw unusable("PYTHON_WHEELS", error);
  }
}
