import { codeOf, statusOf } from "../api.ts";

/** The likely cause of a failed page, and the remedy. */
export function likelyCause(error: unknown): string {
  if (/dynamically imported module|Importing a module/.test(String(error))) {
    return "Most likely the service was updated while this page was open. Reload the page.";
  }
  const status = statusOf(error);
  if (status === undefined) {
    return "Most likely this is a fault of the page itself. Reload it; if it stays, report it with the text above.";
  }
  if (status === 0) return "Most likely the service is restarting, or this device has lost its network.";
  if (codeOf(error) === "UNAUTHENTICATED") return "Most likely your session ended. Sign in again.";
  if (status === 403) return "Most likely your account lacks a right: an admin of this service can give it.";
  if (status === 404) return "Most likely it was deleted, or the address is mistyped.";
  if (status === 429) return "Most likely too much was asked for in a short time. Wait a minute.";
  if (status === 503) return "Most likely the service is busy or starts. Wait a moment.";
  if (status >= 500) return "Most likely this is a fault of the service. Its log has the details for its operator.";
  return "Most likely the address has a value that the service does not accept.";
}
