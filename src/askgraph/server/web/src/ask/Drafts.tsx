// The other readings that were considered, to open instead.

import { useState } from "preact/hooks";
import type { AnswerView, Step } from "../api/types.ts";
import { useFetched } from "../parts/asking.ts";
import { Button, Fold } from "../parts/parts.tsx";
import type { Turn } from "./conversation.ts";
import type { Draft, Reader } from "./reading.ts";
import { say } from "./words.ts";

interface DraftsProps {
  readonly turn: Turn;
  /** The current answer, which is not listed as an alternative. */
  readonly shown: AnswerView;
  readonly wanted: number;
  readonly open: (query: string) => void;
  readonly read: Reader;
}

const SHOWN = 8;

export function Drafts({ turn, shown, wanted, open, read }: DraftsProps) {
  const [isOpen, setOpen] = useState(false);
  const drafts = draftsOf(turn.steps.value, shown);
  const words = useFetched(`${isOpen} ${drafts.map((one) => one.query).join(" ")}`, async () =>
    isOpen ? Promise.all(drafts.map((one) => one.words || read(one.query))) : [],
  );
  // Show the pattern while there are no words, and where two readings have the same words.
  const told = words.value ?? [];
  if (drafts.length === 0) return null;
  return (
    <Fold title={say.readings(drafts.length)} onOpen={() => setOpen(true)} wanted={wanted} leads>
      <ol class="drafts stack near">
        {drafts.map((draft, at) => (
          <li key={draft.query} class="row from-top">
            <div class="grow">
              {told[at] && <p dir="auto">{told[at]}</p>}
              {(!told[at] || told.some((one, other) => one === told[at] && other !== at)) && (
                <pre>{patternOf(draft.query)}</pre>
              )}
            </div>
            <Button onClick={() => open(draft.query)} text={say.useThis} />
          </li>
        ))}
      </ol>
    </Fold>
  );
}

function draftsOf(steps: readonly Step[], shown: AnswerView): Draft[] {
  const plain = (query: string) => patternOf(query).replace(/\s+/g, " ");
  const seen = new Set([plain(shown.sparql ?? "")]);
  const drafts = steps.filter((step): step is Draft => step.step === "draft");
  return drafts
    .filter(({ words }) => words === "" || words !== shown.words)
    .filter(({ query }) => !seen.has(plain(query)) && seen.add(plain(query)))
    .slice(0, SHOWN);
}

function patternOf(query: string): string {
  return query.replace(/^\s*PREFIX\s+\S+\s+<[^>]*>\s*/gim, "").trim();
}
