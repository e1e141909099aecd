/// <reference lib="dom" />
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { javascript, typescriptLanguage } from "@codemirror/lang-javascript";
import { python, pythonLanguage } from "@codemirror/lang-python";
import { bracketMatching, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { Compartment, EditorState, RangeSet, StateEffect, StateField } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  GutterMarker,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumberMarkers,
  lineNumbers,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { setDiagnostics } from "@codemirror/lint";
import { readDeclaration } from "./declaration.ts";
import { completeScript, hoverHints } from "./hints.ts";
import { languageOf, type ScriptLanguage, toPython } from "./script_language.ts";
import { findPlace, indexOfPlace } from "./script_place.ts";

/** Told by an editor. */
interface EditorEvents {
  onChange(text: string): void;
  onLeave(): void;
  /** Ctrl+Enter, or the command key. */
  onRun(): void;
}

// The tokens of the page reach into the editor's shadow tree, so light and dark need no code.
const theme = EditorView.theme({
  "&": { height: "100%", color: "var(--text)", backgroundColor: "var(--surface)", fontSize: "13px" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: 'ui-monospace, "Cascadia Mono", Menlo, monospace', lineHeight: "20px" },
  ".cm-content": { padding: "8px 0", caretColor: "var(--text)" },
  ".cm-line": { padding: "0 12px 0 8px" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { color: "var(--muted)", backgroundColor: "var(--sunken)", borderRight: "1px solid var(--line)" },
  ".cm-lineNumbers .cm-gutterElement": { minWidth: "44px", padding: "0 8px 0 4px" },
  ".cm-wrong": { display: "block", margin: "0 -8px 0 -4px", paddingRight: "8px" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in srgb, var(--accent) 8%, transparent)" },
  ".cm-wrong, .cm-activeLineGutter .cm-wrong": {
    color: "var(--surface)",
    backgroundColor: "var(--danger)",
    fontWeight: "600",
  },
  ".cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": {
    backgroundColor: "color-mix(in srgb, var(--accent) 25%, transparent)",
  },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "color-mix(in srgb, var(--gain) 30%, transparent)" },
  "&.cm-focused .cm-nonmatchingBracket": { backgroundColor: "color-mix(in srgb, var(--danger) 30%, transparent)" },
  // Its own wave is a picture in a data: address, which the page's policy refuses.
  ".cm-lintRange-error": { backgroundImage: "none", textDecoration: "underline wavy var(--danger)" },
  ".cm-tooltip": {
    color: "var(--text)",
    backgroundColor: "var(--surface)",
    border: "1px solid var(--line)",
    borderRadius: "6px",
    boxShadow: "0 4px 16px rgb(0 0 0 / 0.2)",
    maxWidth: "min(440px, 90vw)",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "inherit", maxHeight: "220px" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "2px 8px" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { color: "var(--on-accent)", backgroundColor: "var(--accent)" },
  ".cm-completionIcon": { display: "none" },
  ".cm-tooltip-lint, .hint": { padding: "6px 10px", fontSize: "12px" },
  ".cm-diagnostic": { padding: "0", border: "none" },
  ".hint code": { fontFamily: 'ui-monospace, "Cascadia Mono", Menlo, monospace', overflowWrap: "anywhere" },
  ".hint p": { margin: "4px 0 0", color: "var(--muted)", whiteSpace: "normal" },
});

const highlight = HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier, tags.self, tags.operatorKeyword], color: "var(--accent)" },
  { tag: [tags.string, tags.regexp, tags.special(tags.string)], color: "var(--gain)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--loss)" },
  { tag: [tags.comment], color: "var(--muted)", fontStyle: "italic" },
  { tag: [tags.typeName, tags.className], color: "var(--warn)" },
  { tag: [tags.definition(tags.variableName), tags.definition(tags.propertyName)], fontWeight: "600" },
]);

/** The look of the editor, in the colours of the page. */
const editorLook = [theme, syntaxHighlighting(highlight)];

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
const faultMarks = [marked];

/**
 * An editor for a script. It lives in a shadow tree, where its styles are constructed sheets: the page's policy allows no style
 * elements.
 */
export class CodeEditor {
  readonly #view: EditorView;
  readonly #validity = new Compartment();
  readonly #mode = new Compartment();
  readonly #hints = new Compartment();
  #language: ScriptLanguage;

  /** @param host Its element, which keeps its shadow tree. */
  constructor(host: HTMLElement, text: string, events: EditorEvents) {
    const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
    root.replaceChildren();
    this.#language = languageOf(text);
    const state = EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        highlightActiveLineGutter(),
        highlightActiveLine(),
        history(),
        drawSelection(),
        indentOnInput(),
        bracketMatching(),
        closeBrackets(),
        autocompletion({ icons: false }),
        this.#mode.of(modeOf(this.#language)),
        this.#hints.of([]),
        faultMarks,
        editorLook,
        this.#validity.of(validity(false)),
        keymap.of([
          { key: "Mod-Enter", run: () => (events.onRun(), true), stopPropagation: true, preventDefault: true },
          ...closeBracketsKeymap,
          ...completionKeymap,
          ...historyKeymap,
          ...defaultKeymap,
          indentWithTab,
        ]),
        EditorView.updateListener.of(({ docChanged, state: { doc } }) => {
          if (!docChanged) return;
          events.onChange(doc.toString());
          this.#followLanguage(doc.toString());
        }),
        EditorView.domEventHandlers({ blur: () => events.onLeave() }),
      ],
    });
    this.#view = new EditorView({ state, root, parent: root });
    void this.#showHints();
  }

  /** A text that is pasted may be in the other language. */
  #followLanguage(text: string): void {
    const language = languageOf(text);
    if (language === this.#language) return;
    this.#language = language;
    // The view takes no change while it tells of one.
    queueMicrotask(() => this.#view.dispatch({ effects: this.#mode.reconfigure(modeOf(language)) }));
    void this.#showHints();
  }

  async #showHints(): Promise<void> {
    const declaration = await loadLanguage();
    const isPython = this.#language === "python";
    const known = isPython ? toPython(declaration) : declaration;
    const { data } = isPython ? pythonLanguage : typescriptLanguage;
    const source = data.of({ autocomplete: completeScript(known) });
    this.#view.dispatch({ effects: this.#hints.reconfigure([source, hoverHints(known)]) });
  }

  focus(): void {
    this.#view.focus();
  }

  /** Shows another text, unless it is the one that is shown. */
  setText(text: string): void {
    const { doc } = this.#view.state;
    if (doc.toString() !== text) this.#view.dispatch({ changes: { from: 0, to: doc.length, insert: text } });
  }

  /** See showFault(). @param isWrong True if readers of the screen are told that the text is not accepted. */
  showFault(message: string, { goes, isWrong }: { readonly goes: boolean; readonly isWrong: boolean }): void {
    this.#view.dispatch({ effects: this.#validity.reconfigure(validity(isWrong)) });
    showFault(this.#view, message, goes);
  }

  close(): void {
    this.#view.destroy();
  }
}

function modeOf(language: ScriptLanguage) {
  return language === "python"
    ? [python(), indentUnit.of("    ")]
    : [javascript({ typescript: true }), indentUnit.of("  ")];
}

function validity(isWrong: boolean) {
  return EditorView.contentAttributes.of({ "aria-label": "Script", tabindex: "0", "aria-invalid": String(isWrong) });
}

let language: ReturnType<typeof fetchLanguage> | undefined;

/** The names of the language, read once. Without them the editor works, too. */
function loadLanguage() {
  language ??= fetchLanguage();
  return language;
}

async function fetchLanguage() {
  const response = await fetch("/strategy.d.ts").catch(() => null);
  return readDeclaration(response?.ok ? await response.text() : "");
}

/**
 * Underlines the place that a message names, as in `strategy.ts:2:22: Expression expected`, and marks its line.
 *
 * @param message Empty: none.
 * @param goes True if the caret goes there.
 */
function showFault(view: EditorView, message: string, goes: boolean): void {
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
