import type { Plot } from "../../common/protocol.ts";
import { LOG_LINES_MAX } from "../contracts/abi.ts";
import { PLOT_NAME_CHARS_MAX, PLOT_TIME, PLOT_VALUES_MAX, PLOTS_MAX } from "../contracts/layout.ts";
import { roundCapacity } from "../player.ts";
import type { LogLines } from "./log_lines.ts";

/** The values that a run has room for, which the instances of all of its markets share. */
export class PlotRoom {
  #left = PLOT_VALUES_MAX;

  /** @returns False if there is no room for so many. */
  take(values: number): boolean {
    if (values > this.#left) return false;
    this.#left -= values;
    return true;
  }
}

/** A series that a module has asked for. */
interface Series extends Pick<Plot, "name" | "pane"> {
  /** Null: nothing was drawn yet. Without a value: it is not kept. */
  values: Float64Array | null;
}

/** The series that an instance draws, a value a row for each. Messages of errors are ends of sentences. */
export class GuestPlots {
  /** Rows of the run, and the one that is decided on; -1: none is. */
  rows = 0;
  row: () => number = () => -1;
  readonly #room: PlotRoom | null;
  readonly #log: LogLines;
  readonly #series: Series[] = [];
  readonly #drawn: Plot[] = [];

  /** @param room Null: nothing is kept. @param log Says which plots a run has no room for. */
  constructor(room: PlotRoom | null = null, log: LogLines = []) {
    this.#room = room;
    this.#log = log;
  }

  /** The number of a plot. @param pane Empty: its values decide. @throws {RangeError} When it cannot be named so, or is one too many. */
  ask(name: string, pane: string): number {
    for (const [what, text] of [["name", name], ["pane", pane]] as const) {
      if (text.length <= PLOT_NAME_CHARS_MAX && (text !== "" || what === "pane")) continue;
      throw new RangeError(`plot: a plot's ${what} must be a text of 1 to ${PLOT_NAME_CHARS_MAX} characters`);
    }
    if (name === PLOT_TIME) throw new RangeError(`plot: it cannot be named ${PLOT_TIME}: the times of plots are`);
    const known = this.#series.findIndex((each) => each.name === name);
    if (known >= 0) return known;
    if (this.#series.length === PLOTS_MAX) {
      throw new RangeError(`plot: a strategy can plot at most ${PLOTS_MAX} series`);
    }
    return this.#series.push({ name, pane: pane === "" ? null : pane, values: null }) - 1;
  }

  /** Draws a value at the deciding row. @throws {RangeError} When there is no such plot, or nothing is decided. */
  draw(plot: number, value: number): void {
    const series = this.#series[plot];
    if (series === undefined) {
      throw new RangeError(`draw: there is no plot ${plot}: it has asked for ${this.#series.length}`);
    }
    const row = this.row();
    if (row < 0) throw new RangeError("draw is for decisions: it draws a value at the deciding candle");
    // A write behind the end of an array is dropped.
    (series.values ??= this.#begin(series))[row] = Number.isFinite(value) ? value : NaN;
  }

  #begin({ name, pane }: Series): Float64Array {
    const isKept = this.#room?.take(roundCapacity(this.rows)) ?? false;
    const values = new Float64Array(isKept ? this.rows : 0).fill(NaN);
    if (isKept) this.#drawn.push({ name, pane, values });
    else if (this.#room !== null && this.#log.length < LOG_LINES_MAX) {
      this.#log.push(`the plot ${name} is not kept: a run keeps ${PLOT_VALUES_MAX} values of all plots together`);
    }
    return values;
  }

  /** The plots that were drawn; NaN where nothing was, or what was infinite. The instance is let go. */
  take(): readonly Plot[] {
    this.row = () => -1;
    return this.#drawn.splice(0);
  }
}
