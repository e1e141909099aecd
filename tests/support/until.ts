const LATE_MS = 120_000;
const PAUSE_MS = 5;

/**
 * Asks again and again until there is an answer: for what tells nobody of its changes, as rows and process tables do.
 *
 * @param ask Answers false, null or undefined as long as there is none.
 * @param lateMs When a machine that is only slow would have come to it long ago.
 * @throws Error with the question when there is no answer by then.
 */
export async function until<Answer>(
  ask: () => Answer | false | null | undefined | Promise<Answer | false | null | undefined>,
  lateMs = LATE_MS,
): Promise<Answer> {
  const deadline = performance.now() + lateMs;
  for (;;) {
    const answer = await ask();
    if (answer !== false && answer !== null && answer !== undefined) return answer;
    if (performance.now() > deadline) throw new Error(`This did not come within ${lateMs / 1000} s: ${ask}`);
    await new Promise((resume) => setTimeout(resume, PAUSE_MS));
  }
}

/**
 * Reads a stream of text until what has come matches.
 *
 * @param before What had come before and does not match.
 * @returns All that has come. @throws Error with it when the stream ends before.
 */
export async function readUntil(
  reader: ReadableStreamDefaultReader<string>,
  pattern: RegExp,
  before = "",
): Promise<string> {
  let text = before;
  while (!pattern.test(text)) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`It ended before it said ${pattern}: ${text}`);
    text += value;
  }
  return text;
}
