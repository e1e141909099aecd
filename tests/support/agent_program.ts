import { Client, type OAuthClientProvider, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

type Registered = NonNullable<Awaited<ReturnType<OAuthClientProvider["clientInformation"]>>>;
type Tokens = NonNullable<Awaited<ReturnType<OAuthClientProvider["tokens"]>>>;

/** A program of the official client that knows nothing but the address of /mcp, and keeps what it is given in memory. */
export class AgentProgram implements OAuthClientProvider {
  readonly clientMetadata;
  readonly #transport: StreamableHTTPClientTransport;
  #client: Registered | undefined;
  #tokens: Tokens | undefined;
  #verifier = "";
  /** The page that the person is sent to; undefined until then. */
  page: URL | undefined;

  /** @param redirectUrl Where the program waits for the person's answer. */
  constructor(readonly address: string, readonly redirectUrl: string, name: string) {
    this.clientMetadata = {
      client_name: name,
      redirect_uris: [redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      token_endpoint_auth_method: "none",
    };
    this.#transport = this.#open();
  }

  state(): string {
    // A page that reads it as a number would lose its digits.
    return "12345678901234567890";
  }

  clientInformation() {
    return this.#client;
  }

  saveClientInformation(client: Registered): void {
    this.#client = client;
  }

  tokens() {
    return this.#tokens;
  }

  saveTokens(tokens: Tokens): void {
    this.#tokens = tokens;
  }

  redirectToAuthorization(page: URL): void {
    this.page = page;
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  /** Tries to connect. @returns The page that the person is sent to. */
  async askPerson(): Promise<URL> {
    await new Client({ name: "a test", version: "1" }).connect(this.#transport).catch(() => {});
    if (this.page === undefined) throw new Error(`${this.address} sent the program to no page`);
    return this.page;
  }

  /** Goes on with the address that the person's browser came back to. */
  async goOn(answer: string): Promise<Client> {
    await this.#transport.finishAuth(new URL(answer).searchParams);
    await this.#transport.close();
    const client = new Client({ name: "a test", version: "1" });
    await client.connect(this.#open());
    return client;
  }

  #open(): StreamableHTTPClientTransport {
    return new StreamableHTTPClientTransport(new URL(this.address), { authProvider: this });
  }
}
