import { createHash } from "node:crypto";
import type { Report } from "../../routers/backtests/backtest_report.ts";
import { AppError } from "../../routers/common/errors.ts";
import { matchesTag } from "./negotiation.ts";

// Its own policy stands in the file. Opened from the service it has no cookie and no storage of the service either.
const POLICY = "sandbox allow-scripts allow-popups allow-popups-to-escape-sandbox; frame-ancestors 'none'";
/** The place of the data in the file that web/bundle_report.ts writes. */
const DATA_MARK = "REPORT_DATA";
const NAME_LENGTH_MAX = 60;

const encoder = new TextEncoder();

/** A report before and after its data. */
interface ShellParts {
  readonly head: Uint8Array;
  readonly tail: Uint8Array;
}

/** The page of every report without its data, as the console's build has it. It is read once, and again after another build. */
export class ReportShell {
  readonly #path: string;
  #builtAtMs: number | undefined;
  #parts: ShellParts | undefined;

  /** @param folder The path of the build. */
  constructor(folder: string) {
    this.#path = `${folder}/report.html`;
  }

  /** @throws AppError UNAVAILABLE while the console is not built. */
  async read(): Promise<ShellParts> {
    try {
      const builtAtMs = (await Deno.stat(this.#path)).mtime?.getTime() ?? 0;
      if (this.#parts === undefined || builtAtMs !== this.#builtAtMs) {
        this.#parts = cut(await Deno.readTextFile(this.#path));
        this.#builtAtMs = builtAtMs;
      }
      return this.#parts;
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
      throw new AppError(
        "UNAVAILABLE",
        "Cannot make the report: the console, which draws it, is not built; run `deno task web:build` and try again",
      );
    }
  }
}

function cut(page: string): ShellParts {
  const [head, tail] = page.split(DATA_MARK);
  if (head === undefined || tail === undefined) throw new Error(`Cannot use report.html: it has no ${DATA_MARK}`);
  return { head: encoder.encode(head), tail: encoder.encode(tail) };
}

/**
 * A report as one HTML file that needs no network, with a hash of it as ETag; 304 where the client has it already.
 *
 * @throws AppError UNAVAILABLE
 */
export async function encodeReport(report: Report, request: Request, shell: ReportShell): Promise<Response> {
  const { head, tail } = await shell.read();
  const data = encoder.encode(embed(report));
  const page = new Uint8Array(head.byteLength + data.byteLength + tail.byteLength);
  page.set(head);
  page.set(data, head.byteLength);
  page.set(tail, head.byteLength + data.byteLength);
  const tag = `"${createHash("sha256").update(page).digest("base64url").slice(0, 27)}"`;
  const headers = new Headers({ etag: tag, "cache-control": "private, no-cache" });
  if (matchesTag(request.headers.get("if-none-match"), tag)) return new Response(null, { status: 304, headers });
  headers.set("content-type", "text/html; charset=utf-8");
  headers.set("content-length", String(page.byteLength));
  headers.set("content-security-policy", POLICY);
  headers.set("content-disposition", `inline; filename="${fileName(report)}"`);
  return new Response(page, { headers });
}

/** JSON that is safe inside a script element: no text in it can end the element or begin a comment. */
export function embed(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<>\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** `hindcast-sma-cross-btcusdt-2024-01-01-2025-01-01.html`: letters, digits and hyphens, whatever the names hold. */
function fileName({ backtest: { strategy, symbol, start_date, end_date } }: Report): string {
  const words = [strategy, symbol].map((text) =>
    text.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, NAME_LENGTH_MAX)
  );
  return `${["hindcast", ...words, start_date, end_date].filter((word) => word !== "").join("-")}.html`;
}
