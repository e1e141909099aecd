import { setImmediate } from "node:timers";

interface Waiting<Question, Answer> {
  readonly question: Question;
  readonly answer: PromiseWithResolvers<Answer>;
}

/** How much one statement may ask for. */
interface Limit<Question> {
  readonly sizeOf: (question: Question) => number;
  readonly sizeMax: number;
}

/** Questions that a statement answers at once, whatever their size. */
const QUESTIONS_MAX = 1000;

/**
 * Asks the database the questions of many readers at once: those of one turn of the event loop go into one statement, or into a few,
 * one after the other, where they ask for too much. A portfolio's markets are loaded side by side, and reach each question together.
 */
export class Gatherer<Question, Answer> {
  readonly #askAll: (questions: readonly Question[]) => Promise<readonly Answer[]>;
  readonly #limit: Limit<Question>;
  #waiting: Waiting<Question, Answer>[] = [];

  /** @param askAll Answers in the order of the questions. */
  constructor(
    askAll: (questions: readonly Question[]) => Promise<readonly Answer[]>,
    limit: Limit<Question> = { sizeOf: () => 1, sizeMax: QUESTIONS_MAX },
  ) {
    this.#askAll = askAll;
    this.#limit = limit;
  }

  ask(question: Question): Promise<Answer> {
    const answer = Promise.withResolvers<Answer>();
    // Questions that follow from answers of this turn are still gathered.
    if (this.#waiting.length === 0) setImmediate(() => void this.#send());
    this.#waiting.push({ question, answer });
    return answer.promise;
  }

  async #send(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const group of cut(waiting, this.#limit)) {
      try {
        const answers = await this.#askAll(group.map(({ question }) => question));
        for (const [n, { answer }] of group.entries()) answer.resolve(answers[n]!);
      } catch (error) {
        for (const { answer } of group) answer.reject(error);
      }
    }
  }
}

/** Groups of questions, in their order, each within the limit or of one question. */
function cut<Question, Answer>(
  waiting: readonly Waiting<Question, Answer>[],
  { sizeOf, sizeMax }: Limit<Question>,
): Waiting<Question, Answer>[][] {
  const groups: Waiting<Question, Answer>[][] = [];
  let size = Infinity;
  for (const one of waiting) {
    size += sizeOf(one.question);
    const group = groups.at(-1);
    if (group === undefined || size > sizeMax || group.length === QUESTIONS_MAX) {
      groups.push([one]);
      size = sizeOf(one.question);
    } else group.push(one);
  }
  return groups;
}
