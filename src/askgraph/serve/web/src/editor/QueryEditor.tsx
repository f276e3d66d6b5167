// The query in an editor: complete names, look it over while typing, format, undo, run.

import type { EditorView } from "@codemirror/view";
import { useEffect, useRef, useState } from "preact/hooks";
import { formatQuery, looked, vocabulary } from "../api/graphs.ts";
import { problemFrom } from "../api/http.ts";
import type { Finding, Problem, Vocabulary } from "../api/types.ts";
import { texts } from "../i18n/index.ts";
import { CopyButton } from "../parts/CopyButton.tsx";
import { Icon } from "../parts/Icon.tsx";
import { ProblemNote } from "../parts/ProblemNote.tsx";
import { createEditor, redo, replaceText, undo } from "./editor.ts";

interface QueryEditorProps {
  readonly graph: string;
  readonly query: string;
  readonly original: string;
  readonly isBusy: boolean;
  readonly canRun: boolean;
  readonly run: (query: string) => void;
}

/** Where a message says that it is, which stands before it already. */
const PLACE = /^line \d+, column \d+: /;

export function QueryEditor(props: QueryEditorProps) {
  const say = words();
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const newest = useRef(props);
  newest.current = props;
  const [text, setText] = useState(props.query);
  const [findings, setFindings] = useState<readonly Finding[]>([]);
  const [problem, setProblem] = useState<Problem | null>(null);
  useEffect(() => {
    if (!host.current) return;
    let known: Vocabulary | null = null;
    vocabulary(props.graph).then(
      (found) => {
        known = found;
      },
      () => undefined, // the editor completes SPARQL's own words without it
    );
    const look = async (query: string) => {
      const found = await looked(newest.current.graph, query);
      setFindings(found?.findings ?? []);
      return found;
    };
    const made = createEditor(host.current, props.query, {
      label: say.label,
      repairLabel: say.repair,
      changed: setText,
      run: () => {
        if (newest.current.canRun) newest.current.run(made.state.doc.toString());
        return true;
      },
      vocabulary: () => known,
      validate: look,
    });
    view.current = made;
    return () => made.destroy();
  }, []);
  useEffect(() => {
    if (view.current) replaceText(view.current, props.query);
  }, [props.query]);

  const format = async () => {
    setProblem(null);
    try {
      const { query } = await formatQuery(props.graph, text);
      if (view.current) replaceText(view.current, query);
    } catch (error) {
      setProblem(problemFrom(error));
    }
  };
  const act = (does: (at: EditorView) => unknown) => () => {
    if (!view.current) return;
    does(view.current);
    view.current.focus();
  };
  return (
    <div class="editor">
      <div class="editor-host" ref={host} />
      <div class="editor-foot row">
        {props.canRun && (
          <button
            type="button"
            class="button primary small"
            disabled={props.isBusy || !text.trim()}
            onClick={() => props.run(text)}
            title={say.runKeys}
          >
            {props.isBusy ? <span class="spinner" /> : <Icon name="run" />}
            {say.run}
          </button>
        )}
        <button type="button" class="button small" onClick={() => void format()}>
          {say.format}
        </button>
        <button type="button" class="button small" onClick={act(undo)}>
          <Icon name="undo" />
          {say.undo}
        </button>
        <button type="button" class="button small" onClick={act(redo)}>
          {say.redo}
        </button>
        {text !== props.original && (
          <button
            type="button"
            class="button small"
            onClick={act((at) => replaceText(at, props.original))}
          >
            {say.original}
          </button>
        )}
        <CopyButton text={text} class="button quiet small" />
      </div>
      <Findings found={findings} />
      {problem && <ProblemNote problem={problem} />}
    </div>
  );
}

function Findings({ found }: { found: readonly Finding[] }) {
  const say = words();
  return (
    <div role="status" class="findings">
      {found.length > 0 && (
        <ul>
          {found.map((finding) => (
            <li key={`${finding.check} ${finding.message}`} class={`finding ${finding.severity}`}>
              {finding.line ? <span class="muted">{say.line(finding.line)} </span> : ""}
              <span dir="auto">{finding.message.replace(PLACE, "")}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

// The editor's texts.

const words = texts(
  {
    label: "SPARQL query",
    run: "Run",
    runKeys: "Run (Ctrl Enter)",
    format: "Format",
    undo: "Undo",
    redo: "Redo",
    original: "Back to the original",
    repair: "Repair",
    line: (line: number) => `Line ${line}:`,
  },
  {
    label: "SPARQL-Anfrage",
    run: "Ausführen",
    runKeys: "Ausführen (Strg Eingabe)",
    format: "Formatieren",
    undo: "Rückgängig",
    redo: "Wiederholen",
    original: "Zurück zum Original",
    repair: "Reparieren",
    line: (line: number) => `Zeile ${line}:`,
  },
);
