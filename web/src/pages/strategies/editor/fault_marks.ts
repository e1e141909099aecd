import { setDiagnostics } from "@codemirror/lint";
import { RangeSet, StateEffect, StateField } from "@codemirror/state";
import { EditorView, GutterMarker, lineNumberMarkers } from "@codemirror/view";
import { findPlace, indexOfPlace } from "./script_place.ts";

const setMark = StateEffect.define<number | null>();

class WrongLine extends GutterMarker {
  override toDOM(view: EditorView): Node {
    const dom = document.createElement("span");
    dom.className = "cm-wrong";
    const { from } = view.state.field(marked, false)?.iter() ?? {};
    dom.textContent = `✕ ${from === undefined ? "" : view.state.doc.lineAt(from).number}`;
    return dom;
  }
}

/** The mark in the place of the number of the line that a mistake is in. */
const marked: StateField<RangeSet<GutterMarker>> = StateField.define<RangeSet<GutterMarker>>({
  create: () => RangeSet.empty,
  update(marks, { effects, changes }) {
    const effect = effects.find((each) => each.is(setMark));
    if (effect === undefined) return marks.map(changes);
    return effect.value === null ? RangeSet.empty : RangeSet.of(new WrongLine().range(effect.value));
  },
  provide: (field) => lineNumberMarkers.from(field),
});

/** Lets an editor show mistakes. */
export const faultMarks = [marked];

/**
 * Underlines the place that a message names, as in `strategy.ts:2:22: Expression expected`, and marks its line.
 *
 * @param message Empty: none.
 * @param goes True if the caret goes there.
 */
export function showFault(view: EditorView, message: string, goes: boolean): void {
  const place = findPlace(message);
  if (place === null) {
    view.dispatch(setDiagnostics(view.state, []), { effects: setMark.of(null) });
    return;
  }
  const { doc } = view.state;
  const at = Math.min(indexOfPlace(doc.toString(), place), doc.length);
  const line = doc.lineAt(at);
  const word = /^[\w$]+|^./u.exec(doc.sliceString(at, line.to))?.[0].length ?? 0;
  // An underline needs a letter; at the end of a line it is the last one.
  const from = word === 0 ? Math.max(line.from, at - 1) : at;
  const diagnostic = { from, to: at + word, severity: "error", message } as const;
  view.dispatch(setDiagnostics(view.state, [diagnostic]), { effects: setMark.of(line.from) });
  if (!goes) return;
  view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: "center" }) });
  view.focus();
}
