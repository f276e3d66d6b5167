// The query editor: completion, checks while typing, format, undo, run.

import type { EditorView } from "@codemirror/view";
import { useEffect, useRef, useState } from "preact/hooks";
import { checkQuery, formatQuery, vocabulary } from "../api/graphs.ts";
import type { FindingView } from "../api/types.ts";
import { texts } from "../i18n/index.ts";
import { useAttempt } from "../parts/asking.ts";
import { Icon } from "../parts/Icon.tsx";
import type { Marks } from "../parts/marks.ts";
import { Button, CopyButton, ProblemNote } from "../parts/parts.tsx";
import { createEditor, redo, replaceText, undo } from "./editor.ts";
import words from "./words.json";

interface QueryEditorProps {
  readonly graph: string;
  readonly query: string;
  readonly isBusy: boolean;
  readonly canRun: boolean;
  readonly run: (query: string) => void;
  readonly marks: Marks;
}

/** The position at the start of a message; the page shows it in its own form. */
const PLACE = /^line \d+, column \d+: /;

export function QueryEditor(props: QueryEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const newest = useRef(props);
  newest.current = props;
  const [text, setText] = useState(props.query);
  const [findings, setFindings] = useState<readonly FindingView[]>([]);
  const [attempt, problem] = useAttempt();
  useEffect(() => {
    if (!host.current) return;
    const look = async (query: string) => {
      const found = await checkQuery(newest.current.graph, query);
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
      // If this fails, the editor still completes SPARQL keywords.
      vocabulary: vocabulary(props.graph).catch(() => null),
      validate: look,
      marks: () => newest.current.marks,
    });
    view.current = made;
    return () => made.destroy();
  }, []);
  useEffect(() => {
    if (view.current) replaceText(view.current, props.query);
  }, [props.query]);
  useEffect(() => view.current?.dispatch({}), [props.marks]);

  const format = () =>
    attempt(async () => {
      const { query } = await formatQuery(props.graph, text);
      if (view.current) replaceText(view.current, query);
    });
  const act = (does: (at: EditorView) => unknown) => () => {
    if (!view.current) return;
    does(view.current);
    view.current.focus();
  };
  return (
    <div class="editor sheet">
      <div class="editor-host" ref={host} />
      <div class="editor-foot row tight">
        {props.canRun && (
          <Button
            look="primary small"
            disabled={props.isBusy || !text.trim()}
            onClick={() => props.run(text)}
            title={say.runKeys}
          >
            {props.isBusy ? <span class="spinner" /> : <Icon name="run" />}
            {say.run}
          </Button>
        )}
        <Button onClick={() => void format()} text={say.format} />
        <Button icon="undo" onClick={act(undo)} text={say.undo} />
        <Button onClick={act(redo)} text={say.redo} />
        {text !== props.query && (
          <Button onClick={act((at) => replaceText(at, props.query))} text={say.original} />
        )}
        <CopyButton text={text} look="quiet small" />
      </div>
      <Findings found={findings} />
      <ProblemNote problem={problem} />
    </div>
  );
}

function Findings({ found }: { found: readonly FindingView[] }) {
  return (
    <div role="status" class="findings">
      {found.length > 0 && (
        <ul class="stack tight">
          {found.map((finding) => (
            <li key={`${finding.check} ${finding.message}`} class={finding.severity}>
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

const say = texts("editor/words", words);
