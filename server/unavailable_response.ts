import { AppError, errorBody, errorStatus } from "../routers/errors.ts";

const RETRY_AFTER_SECONDS = 1;

/** The answer to every request while the service waits for its database to start. */
export function unavailableResponse(): Response {
  const error = new AppError("UNAVAILABLE", "Cannot answer yet: the service is waiting for its database");
  return Response.json(errorBody(error, crypto.randomUUID()), {
    status: errorStatus(error),
    headers: { "retry-after": String(RETRY_AFTER_SECONDS) },
  });
}
