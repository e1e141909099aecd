/** A CSV file that cannot be read at all; the message names the remedy. */
export class CsvError extends Error {
  override readonly name = "CsvError";

  /** @param parameter The query parameter that settles the question, if there is one. */
  constructor(message: string, options?: ErrorOptions & { readonly parameter?: string }) {
    super(message, options);
    this.parameter = options?.parameter ?? null;
  }

  readonly parameter: string | null;
}
