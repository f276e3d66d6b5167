// The query of an answer, folded away; opened, it is an editor that is loaded then.

import { useState } from "preact/hooks";
import { Later } from "../app/Later.tsx";
import { words } from "./words.ts";

export interface QueryPartProps {
  readonly graph: string;
  readonly query: string;
  readonly original: string;
  readonly isBusy: boolean;
  readonly canRun: boolean;
  readonly run: (query: string) => void;
}

const editor = () => import("../editor/QueryEditor.tsx").then((found) => found.QueryEditor);

export function QueryPart(props: QueryPartProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="fold query" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span>{words().query}</span>
        <span class="fold-more">SPARQL</span>
      </summary>
      {isOpen && <Later load={editor} props={props} />}
    </details>
  );
}
