// The CodeMirror editor for queries. It lives in a shadow root, where its styles are adopted style
// sheets: style elements, which it would write elsewhere, are against the page's content policy.

import {
  autocompletion,
  type Completion,
  type CompletionContext,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from "@codemirror/autocomplete";
import {
  defaultKeymap,
  history,
  historyKeymap,
  isolateHistory,
  redo,
  undo,
} from "@codemirror/commands";
import {
  bracketMatching,
  HighlightStyle,
  indentOnInput,
  StreamLanguage,
  syntaxHighlighting,
} from "@codemirror/language";
import { type Diagnostic, linter, lintKeymap } from "@codemirror/lint";
import { EditorState, type Text } from "@codemirror/state";
import {
  Decoration,
  drawSelection,
  EditorView,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { FindingView, TermView, ValidationView, VocabularyView } from "../api/types.ts";
import { LOOKS, type Marks } from "../parts/marks.ts";
import { FUNCTIONS, KEYWORDS, sparqlParser } from "./sparql.ts";

interface EditorWishes {
  readonly label: string;
  readonly repairLabel: string;
  readonly changed: (text: string) => void;
  /** Runs the query; returns true, so that the editor treats the key as handled. */
  readonly run: () => boolean;
  readonly vocabulary: Promise<VocabularyView | null>;
  /** Checks a query; null if the check failed. */
  readonly validate: (text: string) => Promise<ValidationView | null>;
  readonly marks: () => Marks;
}

/** Mounts an editor in an element. */
export function createEditor(host: HTMLElement, text: string, wishes: EditorWishes): EditorView {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  return new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        highlightSpecialChars(),
        history(),
        drawSelection(),
        indentOnInput(),
        bracketMatching(),
        closeBrackets(),
        sparql,
        syntaxHighlighting(colours),
        theme,
        EditorView.lineWrapping,
        EditorView.decorations.of((view) =>
          Decoration.set(
            findMarks(view.state.doc.toString(), wishes.marks()).map(({ from, to, mark }) =>
              Decoration.mark({ attributes: { "data-mark": `${mark}` } }).range(from, to),
            ),
          ),
        ),
        EditorView.contentAttributes.of({ "aria-label": wishes.label, spellcheck: "false" }),
        autocompletion({
          icons: false,
          override: [(context) => completions(context, wishes.vocabulary)],
        }),
        linter((view) => diagnostics(view, wishes), { delay: 450 }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) wishes.changed(update.state.doc.toString());
        }),
        keymap.of([
          { key: "Mod-Enter", run: wishes.run },
          ...closeBracketsKeymap,
          ...completionKeymap,
          ...lintKeymap,
          ...historyKeymap,
          ...defaultKeymap,
        ]),
      ],
    }),
  });
}

/** Replaces the editor's text; undo restores the previous one. */
export function replaceText(view: EditorView, text: string): void {
  if (view.state.doc.toString() === text) return;
  view.dispatch({
    changes: { from: 0, to: view.state.doc.length, insert: text },
    annotations: isolateHistory.of("full"),
  });
}

export { redo, undo };

const TERM = /<[^\s<>]*>|#.*|(["']).*?\1|[\p{L}\p{N}_.-]*:[\p{L}\p{N}_.%-]*|\d+(?:\.\d+)?/gu;

/** The places of marked terms in a query: IRIs, prefixed names, texts and numbers. */
export function findMarks(query: string, marks: Marks) {
  const declared = query.matchAll(/\bprefix\s+(\S*):\s*<([^>]*)>/gi);
  const prefixes = new Map([...declared].map(([, name = "", iri = ""]) => [name, iri]));
  return [...query.matchAll(TERM)].flatMap(({ 0: text, index: from }) => {
    const [prefix = "", name = ""] = text.split(/:(.*)/);
    const bare = text.replace(/^[<"']|[>"']$/g, "");
    const mark = marks.get(bare) ?? marks.get(`${prefixes.get(prefix)}${name}`);
    return mark ? [{ from, to: from + text.length, mark }] : [];
  });
}

async function diagnostics(view: EditorView, wishes: EditorWishes): Promise<Diagnostic[]> {
  const text = view.state.doc.toString();
  const found = await wishes.validate(text);
  if (!found || view.state.doc.toString() !== text) return [];
  const { repaired } = found;
  const placed = found.findings.filter(({ start, line }) => start !== null || line !== null);
  return placed.map((finding) => ({
    ...spanOf(view.state.doc, finding),
    severity: finding.severity,
    message: finding.message,
    actions:
      typeof repaired === "string"
        ? [{ name: wishes.repairLabel, apply: (at) => replaceText(at, repaired) }]
        : [],
  }));
}

async function completions(context: CompletionContext, vocabulary: EditorWishes["vocabulary"]) {
  const before = context.matchBefore(/[?$]?[\p{L}\p{N}_:-]*/u);
  if (!before || (before.text.length < 2 && !context.explicit)) return null;
  const found = options(before.text, context.state.doc.toString(), await vocabulary);
  return { from: before.from, filter: false, options: found.slice(0, 60) };
}

/** SPARQL as a language of CodeMirror. */
export const sparql = StreamLanguage.define({
  ...sparqlParser,
  tokenTable: { iri: tags.url, name: tags.name, variable: tags.variableName },
});

const colours = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--code-keyword)", fontWeight: "600" },
  { tag: tags.function(tags.variableName), color: "var(--code-keyword)" },
  { tag: tags.variableName, color: "var(--code-variable)" },
  { tag: tags.url, color: "var(--code-text)" },
  { tag: tags.name, color: "var(--code-name)" },
  { tag: [tags.string, tags.meta], color: "var(--code-text)" },
  { tag: [tags.number, tags.bool], color: "var(--code-number)" },
  { tag: tags.comment, color: "var(--code-comment)", fontStyle: "italic" },
  { tag: [tags.punctuation, tags.bracket], color: "var(--ink-2)" },
]);

/** Terms that the question means look like its words (ask.css). */
const marked = LOOKS.flatMap(({ "--stroke": stroke, "--hue": hue }, at) => {
  const mark = `[data-mark="${at + 1}"]`;
  return [
    [mark, { textDecoration: `underline ${stroke} 2px ${hue}`, textUnderlineOffset: "0.2em" }],
    [
      `:host([data-lit="${at + 1}"]) & ${mark}`,
      { backgroundColor: `color-mix(in srgb, ${hue} 18%, transparent)`, borderRadius: "0.25rem" },
    ],
  ];
});

const theme = EditorView.theme({
  ...Object.fromEntries(marked),
  "&": { color: "var(--ink)", backgroundColor: "transparent", fontSize: "var(--text-s)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.6" },
  ".cm-content": { padding: "0.75rem 0", caretColor: "var(--accent)" },
  ".cm-gutters": { backgroundColor: "transparent", color: "var(--ink-3)", border: "none" },
  ".cm-lineNumbers .cm-gutterElement": { padding: "0 0.5rem 0 0.75rem" },
  ".cm-cursor": { borderLeftColor: "var(--accent)", borderLeftWidth: "2px" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground":
    { backgroundColor: "var(--accent-soft)" },
  "&.cm-focused .cm-matchingBracket": {
    backgroundColor: "var(--accent-soft)",
    outline: "1px solid var(--accent)",
  },
  "&.cm-focused .cm-nonmatchingBracket": { backgroundColor: "var(--bad-soft)" },
  ".cm-tooltip": {
    backgroundColor: "var(--raised)",
    border: "1px solid var(--line)",
    borderRadius: "0.375rem",
    boxShadow: "var(--shadow-2)",
    overflow: "hidden",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", maxHeight: "16rem" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "0.25rem 0.5rem" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": {
    backgroundColor: "var(--accent-soft)",
    color: "var(--ink)",
  },
  ".cm-completionDetail": {
    color: "var(--ink-2)",
    fontFamily: "var(--sans)",
    fontStyle: "normal",
    marginLeft: "0.75rem",
  },
  ".cm-diagnostic": { fontFamily: "var(--sans)", padding: "0.375rem 0.75rem" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--bad)" },
  ".cm-diagnostic-warning": { borderLeftColor: "var(--warn)" },
  ".cm-diagnosticAction": {
    backgroundColor: "var(--accent)",
    color: "var(--on-accent)",
    borderRadius: "0.25rem",
  },
});

// The place of a finding in the text of an editor.

/** The span to mark, at least a character, and within a text that may be shorter by now. */
export function spanOf(doc: Text, finding: FindingView): { from: number; to: number } {
  const last = Math.max(0, doc.length - 1);
  const { start, end } = finding;
  if (start !== null && end !== null) {
    const from = Math.min(start, last);
    return { from, to: Math.min(Math.max(end, from + 1), doc.length) };
  }
  const line = doc.line(Math.min(Math.max(finding.line ?? 1, 1), doc.lines));
  const from = Math.min(line.from + Math.max(0, (finding.column ?? 1) - 1), line.to, last);
  const word = /^\S+/.exec(doc.sliceString(from, line.to))?.[0] ?? "";
  return { from, to: Math.min(doc.length, from + Math.max(1, word.length)) };
}

// Completing a query: names of the graph by their labels, its variables, the words of SPARQL.

/** The rest of an IRI that a prefixed name may end with. */
const LOCAL = /^[\p{L}\p{N}_](?:[\p{L}\p{N}_.-]*[\p{L}\p{N}_-])?$/u;

/** An IRI as a prefixed name, by the longest namespace; else in angle brackets. */
export function compact(iri: string, prefixes: Readonly<Record<string, string>>): string {
  const [best] = Object.entries(prefixes)
    .filter(([, start]) => start && iri.startsWith(start) && LOCAL.test(iri.slice(start.length)))
    .sort(([, one], [, other]) => other.length - one.length);
  return best ? `${best[0]}:${iri.slice(best[1].length)}` : `<${iri}>`;
}

/** Completes the words before the cursor; `typed` as in `ont:Pl`, `moon` or `?pl`. */
export function options(
  typed: string,
  query: string,
  vocabulary: VocabularyView | null,
): readonly Completion[] {
  if (/^[?$]/.test(typed)) {
    const all = new Set(query.match(/[?$][\p{L}\p{N}_]+/gu) ?? []);
    all.delete(typed);
    return [...all].map((label) => ({ label, type: "variable", boost: 30 }));
  }
  const names = vocabulary ? named(typed.toLowerCase(), vocabulary) : [];
  if (typed.includes(":")) return names;
  const lower = typed.toLowerCase();
  const complete = (words: readonly string[], type: string): Completion[] =>
    words
      .filter((word) => word.startsWith(lower))
      .map((word) => ({ label: word.toUpperCase(), type, boost: -20 }));
  return [...names, ...complete(KEYWORDS, "keyword"), ...complete(FUNCTIONS, "function")];
}

function named(typed: string, vocabulary: VocabularyView): Completion[] {
  const term = (type: "class" | "property") => (one: TermView) => ({
    label: compact(one.iri, vocabulary.prefixes),
    detail: one.label,
    type,
    boost: Math.min(20, Math.log2(1 + one.count)),
  });
  const { classes, predicates } = vocabulary;
  return [...classes.map(term("class")), ...predicates.map(term("property"))].filter(
    ({ label, detail }) => `${label}\n${detail}`.toLowerCase().includes(typed),
  );
}
