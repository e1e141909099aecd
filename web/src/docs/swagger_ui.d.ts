/** The settings of Swagger UI that the page uses. */
interface SwaggerSettings {
  /** The address of the description. */
  readonly url: string;
  readonly domNode: HTMLElement;
  /** The address of the page names the open operation. */
  readonly deepLinking: boolean;
  /** Shows a search by tag or path. */
  readonly filter: boolean;
  readonly docExpansion: "list" | "full" | "none";
  readonly defaultModelsExpandDepth: number;
  readonly displayRequestDuration: boolean;
  /** Operations are ready to send at once. */
  readonly tryItOutEnabled: boolean;
  /** Null asks no service on the Internet about the description. */
  readonly validatorUrl: null;
}

/** Draws the reference of an API. */
export default function SwaggerUI(settings: SwaggerSettings): void;
