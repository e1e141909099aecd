/// <reference lib="dom" />
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { javascript, typescriptLanguage } from "@codemirror/lang-javascript";
import { python, pythonLanguage } from "@codemirror/lang-python";
import { bracketMatching, indentOnInput, indentUnit } from "@codemirror/language";
import { Compartment, EditorState } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { readDeclaration } from "./declaration.ts";
import { editorLook } from "./editor_look.ts";
import { faultMarks, showFault } from "./fault_marks.ts";
import { completeScript, hoverHints } from "./hints.ts";
import { languageOf, type ScriptLanguage, toPython } from "./script_language.ts";

/** Told by an editor. */
interface EditorEvents {
  onChange(text: string): void;
  onLeave(): void;
  /** Ctrl+Enter, or the command key. */
  onRun(): void;
}

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
