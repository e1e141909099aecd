import { getSystemErrorName } from "node:util";
import { getLogger } from "@logtape/logtape";
import { LRUCache } from "lru-cache";
import { createTransport } from "nodemailer";

const log = getLogger(["hindcast", "mail"]);

/** A stranger who asks again and again must not fill somebody's mailbox. */
const RECIPIENT_MAILS_MAX = 5;
const RECIPIENT_WINDOW_MS = 3_600_000;
const RECIPIENTS_MAX = 100_000;
/** Mails that wait for the server, in memory. */
const WAITING_MAX = 1_000;
const SERVER_MS_MAX = 30_000;
/** A server that says nothing must not keep the process from ending. */
const CLOSE_MS_MAX = 3_000;

/** A mail in plain text. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** Where mails go, and whom they are from. */
export interface MailSettings {
  /** `smtp://user:password@host:port`, or `smtps:` where the server speaks TLS from the start. */
  readonly server: URL;
  /** `Name <address>`, or an address. */
  readonly from: string;
  /** Names this host to the server. */
  readonly hostname: string;
}

/** Sends mails one after another, and reports failures in the log: no request waits for a mail server. */
export class Mailer {
  readonly #transport;
  readonly #from: string;
  readonly #waiting = new Set<Promise<void>>();
  readonly #sent = new LRUCache<string, number>({ max: RECIPIENTS_MAX, ttl: RECIPIENT_WINDOW_MS, noUpdateTTL: true });

  constructor({ server, from, hostname }: MailSettings) {
    this.#from = from;
    this.#transport = createTransport({
      host: server.hostname.replace(/^\[|\]$/g, ""),
      port: Number(server.port || (server.protocol === "smtps:" ? 465 : 587)),
      secure: server.protocol === "smtps:",
      ...(server.username === "" ? {} : {
        auth: { user: decodeURIComponent(server.username), pass: decodeURIComponent(server.password) },
        // Neither the password nor a link may cross a network in the clear.
        requireTLS: server.protocol !== "smtps:",
      }),
      name: hostname,
      pool: true,
      maxConnections: 2,
      connectionTimeout: SERVER_MS_MAX,
      greetingTimeout: SERVER_MS_MAX,
      socketTimeout: SERVER_MS_MAX,
    });
  }

  /** Takes a mail, unless its recipient has had several within the hour, or too many wait. */
  send(mail: Mail): void {
    const recipient = mail.to.toLowerCase();
    const count = (this.#sent.get(recipient) ?? 0) + 1;
    if (count > RECIPIENT_MAILS_MAX) return log.warn("Did not send a mail: its recipient had several within the hour");
    if (this.#waiting.size >= WAITING_MAX) {
      return log.error("Did not send a mail: {count} wait", { count: WAITING_MAX });
    }
    this.#sent.set(recipient, count);
    const sending = this.#transport.sendMail({ from: this.#from, ...mail }).then(
      () => log.info("Sent a mail: {subject}", { subject: mail.subject }),
      (error) => log.error("Cannot send a mail: {error}", { error: withoutText(error) }),
    ).finally(() => this.#waiting.delete(sending));
    this.#waiting.add(sending);
  }

  /** Waits a moment for the mails that were taken, and gives up the rest. */
  async close(): Promise<void> {
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, CLOSE_MS_MAX);
    await Promise.race([Promise.all(this.#waiting), late.promise]);
    clearTimeout(timer);
    if (this.#waiting.size > 0) log.error("Gave up mails at the end: {count}", { count: this.#waiting.size });
    this.#transport.close();
  }
}

/** The server's refusal; its text may quote the recipient. */
function withoutText(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const code = "code" in error ? ` ${error.code}` : "";
  const response = "responseCode" in error && error.responseCode !== undefined ? ` ${error.responseCode}` : "";
  // The library's own code for a server that is away says no more than that a socket failed.
  const system = "errno" in error && typeof error.errno === "number" && error.errno < 0
    ? ` ${getSystemErrorName(error.errno)}`
    : "";
  return `${error.name}${code}${response}${system}`;
}
