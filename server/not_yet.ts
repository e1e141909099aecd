import { AppError, errorBody, errorStatus } from "../routers/errors.ts";

const RETRY_AFTER_SECONDS = 1;

/** What every request is told while the service waits for its database to start. */
export function answerNotYet(): Response {
  const error = new AppError("UNAVAILABLE", "Cannot answer yet: the database is being waited for");
  return Response.json(errorBody(error, crypto.randomUUID()), {
    status: errorStatus(error),
    headers: { "retry-after": String(RETRY_AFTER_SECONDS) },
  });
}
