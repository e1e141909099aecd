import type { Answer, TestClient } from "../tests/support/client.ts";

/** Optimizes over HTTP. @returns The record once it has ended, and milliseconds since its submission. */
export async function optimizeToEnd(
  client: TestClient,
  optimization: object,
): Promise<{ readonly ended: Answer; readonly takenMs: number }> {
  const begun = performance.now();
  const answer = await client.send("POST", "/api/optimizations", { optimization });
  const path = `/api/optimizations/${answer.at("/optimization/id")}?wait=30`;
  let ended = answer;
  do ended = await client.get(path); while (
    ["queued", "running"].includes(String(ended.at("/optimization/status")))
  );
  const isWhole = ended.at("/optimization/status") === "completed" && ended.at("/optimization/trials/failed") === 0;
  if (!isWhole) throw new Error(`Cannot measure: ${answer.text.slice(0, 2000)} ${ended.text.slice(0, 2000)}`);
  return { ended, takenMs: performance.now() - begun };
}
