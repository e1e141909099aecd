/** The service as programs see it that a person signs in through the browser. */
export interface AgentSignIn {
  /** The service's address, which names it in the documents. */
  readonly issuer: string;
  /** The addresses of /mcp, one for each name of the service. */
  readonly resources: readonly string[];
  /** The key that signs the ids of programs; the same for every process on one database. */
  readonly key: string;
}
