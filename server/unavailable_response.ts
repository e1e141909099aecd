import { AppError, errorBody, errorStatus } from "../routers/errors.ts";

const RETRY_AFTER_SECONDS = 1;

/** The answer of a service that is not open, or about to close. */
export function unavailableResponse(reason: string): Response {
  const error = new AppError("UNAVAILABLE", `Cannot answer: ${reason}`);
  return Response.json(errorBody(error, crypto.randomUUID()), {
    status: errorStatus(error),
    headers: { "retry-after": String(RETRY_AFTER_SECONDS) },
  });
}
