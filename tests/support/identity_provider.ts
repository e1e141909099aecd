import { createServer } from "node:http";
// @ts-types="@types/oidc-provider"
import Provider from "oidc-provider";

/** The name of the person `eve`, which commands a terminal and turns the direction of what follows. */
const EVE = "Eve\u001b[2J\r\n\u202eM.";

/** A provider of identities (OpenID Connect) on a socket of 127.0.0.1. `ann` is the person with `ann@example.com`. */
export class IdentityProvider {
  readonly settings: Readonly<Record<"OIDC_ISSUER" | "OIDC_CLIENT_ID" | "OIDC_CLIENT_SECRET", string>>;
  readonly #server = createServer();

  /** @param port Of 127.0.0.1, where nothing listens. */
  constructor(readonly port: number) {
    const issuer = `http://127.0.0.1:${port}`;
    this.settings = { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: "hindcast", OIDC_CLIENT_SECRET: "a secret of the client" };
  }

  /** @param baseUrl Of the service. */
  async start(baseUrl: string): Promise<void> {
    const provider = new Provider(this.settings.OIDC_ISSUER, {
      clients: [{
        client_id: this.settings.OIDC_CLIENT_ID,
        client_secret: this.settings.OIDC_CLIENT_SECRET,
        redirect_uris: [`${baseUrl}/api/auth/callback/oidc`],
      }],
      claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
      findAccount: (_, accountId) => ({
        accountId,
        claims: () =>
          Promise.resolve({
            sub: accountId,
            email: `${accountId}@example.com`,
            email_verified: true,
            ...(accountId === "eve" ? { name: EVE } : {}),
          }),
      }),
    });
    this.#server.on("request", provider.callback());
    const listening = Promise.withResolvers<void>();
    this.#server.listen(this.port, "127.0.0.1", () => listening.resolve());
    await listening.promise;
  }

  /** Does what a browser does that the service has sent here. @returns Where the browser is sent back to. */
  async signIn(address: string, person: string): Promise<URL> {
    const cookies = new Map<string, string>();
    let url = new URL(address);
    let form: URLSearchParams | undefined;
    while (url.port === String(this.port)) {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
      const answer = await fetch(url, {
        redirect: "manual",
        headers: { cookie },
        ...(form === undefined ? {} : { method: "POST", body: form }),
      });
      for (const line of answer.headers.getSetCookie()) {
        const [, name = "", value = ""] = /^([^=]*)=([^;]*)/.exec(line) ?? [];
        if (value === "") cookies.delete(name);
        else cookies.set(name, value);
      }
      const [page, location] = [await answer.text(), answer.headers.get("location")];
      const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1];
      if (location === null && prompt === undefined) throw new Error(`Cannot go on: ${answer.status} ${page}`);
      form = prompt === undefined ? undefined : new URLSearchParams({ prompt, login: person, password: "any" });
      if (location !== null) url = new URL(location, url);
    }
    return url;
  }

  async close(): Promise<void> {
    const closed = Promise.withResolvers<void>();
    this.#server.close(() => closed.resolve());
    this.#server.closeAllConnections();
    await closed.promise;
  }
}
