// The query in words; its parts can be changed where they stand in the sentence.

import { useEffect, useState } from "preact/hooks";
import { parts as partsOf, swap } from "../api/graphs.ts";
import { problemFrom } from "../api/http.ts";
import type { AnswerView, Part, Parts, Piece, Problem } from "../api/types.ts";
import { Icon } from "../parts/Icon.tsx";
import { ProblemNote } from "../parts/ProblemNote.tsx";
import { PartMenu } from "./PartMenu.tsx";
import { words } from "./words.ts";

export interface ReadBackProps {
  readonly answer: AnswerView;
  readonly graph: string;
  readonly question: string;
  readonly language: string | null;
  readonly isChanged: boolean;
  readonly run: (query: string, words: string) => Promise<void>;
  readonly back: () => void;
}

export function ReadBack(props: ReadBackProps) {
  const { answer, graph, isChanged } = props;
  const say = words();
  const [problem, setProblem] = useState<Problem | null>(null);
  const parts = useParts(props);
  const change = async (part: Part, to: string) => {
    setProblem(null);
    try {
      const next = await swap(graph, answer.sparql ?? "", part.id, to);
      await props.run(next.query, next.words);
    } catch (error) {
      setProblem(problemFrom(error));
    }
  };
  if (!answer.words && !parts) return null;
  const pieces: readonly Piece[] = parts?.pieces ?? [{ text: answer.words }];
  return (
    <section class="read-back" aria-label={say.readAs}>
      <p class="read-back-words" dir="auto">
        <span class="read-back-label">{say.readAs}</span>{" "}
        {pieces.map((piece, at) => {
          const part = parts?.parts.find((one) => one.id === piece.part);
          return part ? (
            <PartMenu
              key={at}
              text={piece.text}
              part={part}
              graph={graph}
              change={(to) => void change(part, to)}
            />
          ) : (
            <span key={at}>{piece.text}</span>
          );
        })}
      </p>
      {isChanged && (
        <p class="row small">
          <span class="chip warn">{say.changed}</span>
          <button type="button" class="button quiet small" onClick={props.back}>
            <Icon name="undo" />
            {say.back}
          </button>
        </p>
      )}
      {problem && <ProblemNote problem={problem} />}
    </section>
  );
}

/** The parts of the query that is shown; null until they are known, or where they cannot be. */
function useParts({ answer, graph, language, question }: ReadBackProps): Parts | null {
  const [found, setFound] = useState<{ query: string; parts: Parts } | null>(null);
  const query = answer.sparql;
  useEffect(() => {
    if (query === null) return;
    let shown = true;
    partsOf(graph, query, language ?? "", question).then(
      (parts) => shown && setFound({ query, parts }),
      () => undefined, // the sentence is then read, and not changed
    );
    return () => {
      shown = false;
    };
  }, [graph, query]);
  return found && found.query === query ? found.parts : null;
}
