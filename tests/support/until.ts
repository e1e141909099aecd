const LATE_MS = 120_000;
// Short waits end soon, and long ones cost little.
const PAUSE_MS_MIN = 5;
const PAUSE_MS_MAX = 50;
const PAUSE_GROWTH = 1.25;

/**
 * Asks again and again until there is an answer: for rows, process tables and others that announce no changes.
 *
 * @param ask Returns false, null or undefined as long as there is no answer.
 * @param lateMs How long to ask; a slow machine needs less.
 * @throws Error with the question when there is no answer by then.
 */
export async function until<Answer>(
  ask: () => Answer | false | null | undefined | Promise<Answer | false | null | undefined>,
  lateMs = LATE_MS,
): Promise<Answer> {
  const deadline = performance.now() + lateMs;
  for (let pauseMs = PAUSE_MS_MIN;; pauseMs = Math.min(pauseMs * PAUSE_GROWTH, PAUSE_MS_MAX)) {
    const answer = await ask();
    if (answer !== false && answer !== null && answer !== undefined) return answer;
    if (performance.now() > deadline) throw new Error(`There was no answer within ${lateMs / 1000} s: ${ask}`);
    await new Promise((resume) => setTimeout(resume, pauseMs));
  }
}

/**
 * Reads a stream of text until the text so far matches.
 *
 * @param before Text that was read earlier and does not match.
 * @returns All of the text. @throws Error with it when the stream ends first.
 */
export async function readUntil(
  reader: ReadableStreamDefaultReader<string>,
  pattern: RegExp,
  before = "",
): Promise<string> {
  let text = before;
  while (!pattern.test(text)) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`The stream ended without ${pattern}: ${text}`);
    text += value;
  }
  return text;
}
