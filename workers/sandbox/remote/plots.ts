import type { Plot } from "../../common/protocol.ts";
import { PLOT_NAME_CHARS_MAX, PLOT_TIME, PLOT_VALUES_MAX, PLOTS_MAX } from "../contracts/layout.ts";
import { roundCapacity } from "../player.ts";
import { AnswerError, isObject, show } from "./answer_fault.ts";

/** A series of an answer: a value for each candle that it decides on, or one for a moment. */
interface DrawnSeries {
  readonly name: string;
  readonly pane: string | null;
  readonly values: readonly (number | null)[];
}

/** The series of an answer, or of a page of one. */
export interface Drawn {
  /** The first asked candle of the page, from 0. */
  readonly at: number;
  readonly series: readonly DrawnSeries[];
}

/**
 * Reads the plots of an answer.
 *
 * @param count Candles that it decides on; null: it has one value for the moment.
 * @throws {AnswerError} Naming the first fault by its JSON pointer.
 */
export function readPlots(
  { plots, panes }: Readonly<Record<string, unknown>>,
  count: number | null,
): readonly DrawnSeries[] {
  const named = panes ?? {};
  if (!isObject(named)) throw fail(`/panes must be an object of texts, not ${show(panes)}`);
  const drawn = plots ?? {};
  if (!isObject(drawn)) throw fail(`/plots must be an object of series, not ${show(plots)}`);
  const stray = Object.keys(named).find((name) => !Object.hasOwn(drawn, name));
  if (stray !== undefined) throw fail(`/panes/${stray.slice(0, PLOT_NAME_CHARS_MAX)} is of no series in /plots`);
  const names = Object.keys(drawn);
  if (names.length > PLOTS_MAX) throw fail(`/plots must have at most ${PLOTS_MAX} series, not ${names.length}`);
  return names.map((name) => {
    const path = `/plots/${name.slice(0, PLOT_NAME_CHARS_MAX)}`;
    requireText(path, "name", name);
    if (name === PLOT_TIME) throw fail(`${path} cannot be named so: the times of plots are`);
    const pane = Object.hasOwn(named, name) ? named[name] : null;
    const values = count === null ? [readValue(path, drawn[name])] : readValues(path, drawn[name], count);
    return { name, pane: pane === null ? null : requireText(`/panes/${name}`, "value", pane), values };
  });
}

function readValues(path: string, values: unknown, count: number): readonly (number | null)[] {
  if (!Array.isArray(values)) throw fail(`${path} must be a list of numbers, not ${show(values)}`);
  if (values.length !== count) throw fail(`${path} must have ${count} values, as /decisions, not ${values.length}`);
  return values.map((value, n) => readValue(`${path}/${n}`, value));
}

function readValue(path: string, value: unknown): number | null {
  if (value === null || typeof value === "number" && Number.isFinite(value)) return value;
  throw fail(`${path} must be a finite number or null, not ${show(value)}`);
}

function requireText(path: string, what: string, text: unknown): string {
  const isText = typeof text === "string" && text !== "" && text.length <= PLOT_NAME_CHARS_MAX;
  if (isText && !/\p{Cc}/u.test(text) && text.isWellFormed()) return text;
  throw fail(`the ${what} of ${path} must be a text of 1 to ${PLOT_NAME_CHARS_MAX} characters, not ${show(text)}`);
}

function fail(message: string): AnswerError {
  return new AnswerError(0, message);
}

/** The series that an endpoint has drawn so far. */
export class EndpointPlots {
  /** Lines of the run's log: which series are not kept. */
  readonly log: string[] = [];
  readonly #rows: number;
  readonly #series = new Map<string, { readonly pane: string | null; readonly values: Float64Array | null }>();

  /** @param rows Candles of the run, or its marks. */
  constructor(rows: number) {
    this.#rows = rows;
  }

  /** Takes the values of an answer, of which the first is that of `row`. @throws {AnswerError} When they are too many series. */
  take(row: number, series: readonly DrawnSeries[]): void {
    for (const { name, pane, values } of series) {
      const known = this.#series.get(name) ?? this.#begin(name, pane);
      for (const [n, value] of values.entries()) if (known.values !== null) known.values[row + n] = value ?? NaN;
    }
  }

  /** The series that are kept. */
  get kept(): readonly Plot[] {
    return [...this.#series].flatMap(([name, { pane, values }]) => values === null ? [] : [{ name, pane, values }]);
  }

  #begin(name: string, pane: string | null) {
    if (this.#series.size === PLOTS_MAX) {
      throw fail(`/plots/${name} is too many: a run has at most ${PLOTS_MAX} series`);
    }
    const isKept = (this.kept.length + 1) * roundCapacity(this.#rows) <= PLOT_VALUES_MAX;
    if (!isKept) {
      this.log.push(`the plot ${name} is not kept: a run keeps ${PLOT_VALUES_MAX} values of all plots together`);
    }
    const made = { pane, values: isKept ? new Float64Array(this.#rows).fill(NaN) : null };
    this.#series.set(name, made);
    return made;
  }
}
