import { SMTPServer } from "smtp-server";
import { until } from "./until.ts";

/** A mail as it arrived, with its lines whole again. */
interface Received {
  readonly to: string;
  readonly text: string;
}

/** A server that takes mails, on a socket of 127.0.0.1. */
export class MailServer {
  readonly mails: Received[] = [];
  readonly url: string;
  readonly #server: SMTPServer;

  private constructor(server: SMTPServer, port: number) {
    this.#server = server;
    this.url = `smtp://127.0.0.1:${port}`;
  }

  static async start(): Promise<MailServer> {
    const server = new SMTPServer({
      authOptional: true,
      disabledCommands: ["STARTTLS"],
      onData: async (stream, session, done) => {
        const parts: Uint8Array[] = [];
        for await (const part of stream) parts.push(part);
        const [recipient] = session.envelope.rcptTo;
        // Long lines come in quoted-printable.
        const text = (await new Blob(parts.map((part) => new Uint8Array(part))).text()).replaceAll("=\r\n", "")
          .replaceAll("=3D", "=");
        own.mails.push({ to: recipient?.address ?? "", text });
        done();
      },
    });
    const listening = Promise.withResolvers<void>();
    server.listen(0, "127.0.0.1", () => listening.resolve());
    await listening.promise;
    const address = server.server.address();
    if (address === null || typeof address === "string") throw new Error("Cannot listen for mails");
    const own = new MailServer(server, address.port);
    return own;
  }

  /** Waits for the mail of this number to somebody. @returns The link in it. */
  async linkTo(recipient: string, number = 1): Promise<string> {
    const mail = await until(() => this.mails.filter(({ to }) => to === recipient)[number - 1]);
    const link = /^https?:\S+$/m.exec(mail.text)?.[0];
    if (link === undefined) throw new Error(`The mail has no link:\n${mail.text}`);
    return link;
  }

  async close(): Promise<void> {
    const closed = Promise.withResolvers<void>();
    this.#server.close(() => closed.resolve());
    await closed.promise;
  }
}
