import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

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
export const editorLook = [theme, syntaxHighlighting(highlight)];
