import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import { syntaxTree } from "@codemirror/language";
import type { EditorState } from "@codemirror/state";
import { hoverTooltip } from "@codemirror/view";
import type { Declaration, Known } from "./declaration.ts";

type SyntaxNode = ReturnType<ReturnType<typeof syntaxTree>["resolveInner"]>;

/** Completes the names of the language of scripts: globals, members of what `decide` receives, options of orders. */
export function completeScript(language: Declaration) {
  return (context: CompletionContext): CompletionResult | null => {
    const word = context.matchBefore(/[\w$]*/);
    if (word === null) return null;
    const place = placeAt(context.state, word.from, language);
    if (place === null || (word.from === word.to && !context.explicit && !place.isOpen)) return null;
    return { from: word.from, options: place.known.map(toCompletion), validFor: /^[\w$]*$/ };
  };
}

/** Shows the declaration and the documentation of the name under the pointer. */
export function hoverHints(language: Declaration) {
  return hoverTooltip((view, pos) => {
    const { from, to, text } = view.state.doc.lineAt(pos);
    const before = /[\w$]*$/.exec(text.slice(0, pos - from))![0].length;
    const after = /^[\w$]*/.exec(text.slice(pos - from, to - from))![0].length;
    const [start, end] = [pos - before, pos + after];
    const name = view.state.sliceDoc(start, end);
    const known = placeAt(view.state, start, language)?.known.find((each) => each.name === name);
    if (known === undefined) return null;
    return { pos: start, end, above: true, create: () => ({ dom: describe(known) }) };
  });
}

interface Place {
  readonly known: readonly Known[];
  /** True where names are offered before a letter is typed. */
  readonly isOpen: boolean;
}

/** The names that fit at a position; null within texts and comments. */
function placeAt(state: EditorState, at: number, language: Declaration): Place | null {
  const node = syntaxTree(state).resolveInner(at, -1);
  if (/Comment|String|Template/.test(node.name)) return null;
  const owner = /(\w+)\.$/.exec(state.sliceDoc(Math.max(0, at - 64), at))?.[1];
  if (owner !== undefined) {
    const type = language.parameters.get(owner);
    return type === undefined ? null : { known: language.members.get(type) ?? [], isOpen: true };
  }
  if (state.sliceDoc(Math.max(0, at - 1), at) === ".") return null;
  const type = optionsAt(state, node, language);
  if (type !== null) return { known: language.members.get(type) ?? [], isOpen: false };
  return { known: [...language.globals, ...language.members.get("Strategy") ?? []], isOpen: false };
}

/** The interface of an object literal or pattern around a position, whose keys are known: options of a call, or what `decide` receives. */
function optionsAt(state: EditorState, start: SyntaxNode, language: Declaration): string | null {
  for (let node: SyntaxNode | null = start; node !== null; node = node.parent) {
    if (node.name === "ObjectPattern" && node.parent?.name === "ParamList") {
      const method = state.sliceDoc(node.parent.parent?.from ?? 0, node.parent.from);
      return /\b(prepare|decide)\s*$/.test(method) ? "Candles" : null;
    }
    // The value of a key is an expression.
    if (node.name === "Property" && node.firstChild !== null && start.from > node.firstChild.to) return null;
    if (node.name !== "ObjectExpression" || node.parent?.name !== "ArgList") continue;
    const call = state.sliceDoc(node.parent.parent?.from ?? 0, node.parent.from);
    const [, owner = "", method = ""] = /(\w+)\.(\w+)$/.exec(call) ?? [];
    const found = language.members.get(language.parameters.get(owner) ?? "")?.find(({ name }) => name === method);
    const types = [...language.members.keys()];
    return types.find((type) => found !== undefined && new RegExp(`\\b${type}\\b`).test(found.signature)) ?? null;
  }
  return null;
}

function toCompletion(known: Known): Completion {
  const isFunction = known.signature.startsWith(`${known.name}(`) || known.signature.startsWith(`${known.name}<`);
  return {
    label: known.name,
    type: isFunction ? "function" : "property",
    boost: 1,
    info: () => describe(known),
  };
}

function describe({ signature, doc }: Known): HTMLElement {
  const dom = document.createElement("div");
  dom.className = "hint";
  const code = document.createElement("code");
  code.textContent = signature;
  const words = document.createElement("p");
  words.textContent = doc;
  dom.append(code, words);
  return dom;
}
