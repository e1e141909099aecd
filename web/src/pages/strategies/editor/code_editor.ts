import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { javascript, typescriptLanguage } from "@codemirror/lang-javascript";
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

/** Told by an editor. */
export interface EditorEvents {
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

  /** @param host Its element, which keeps its shadow tree. */
  constructor(host: HTMLElement, text: string, events: EditorEvents) {
    const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
    root.replaceChildren();
    const hints = new Compartment();
    const state = EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        highlightActiveLineGutter(),
        highlightActiveLine(),
        history(),
        drawSelection(),
        indentOnInput(),
        indentUnit.of("  "),
        bracketMatching(),
        closeBrackets(),
        autocompletion({ icons: false }),
        javascript({ typescript: true }),
        hints.of([]),
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
        EditorView.updateListener.of(({ docChanged, state: { doc } }) => docChanged && events.onChange(doc.toString())),
        EditorView.domEventHandlers({ blur: () => events.onLeave() }),
      ],
    });
    this.#view = new EditorView({ state, root, parent: root });
    void loadLanguage().then((language) => {
      const source = typescriptLanguage.data.of({ autocomplete: completeScript(language) });
      this.#view.dispatch({ effects: hints.reconfigure([source, hoverHints(language)]) });
    });
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
