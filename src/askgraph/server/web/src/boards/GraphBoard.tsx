// A board made of a graph: what is in it, and its first questions with their answers.

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { boardOfGraph, keepBoard } from "../api/boards.ts";
import type { GraphBoardView } from "../api/types.ts";
import { graphTitle } from "../app/known.ts";
import { askAddress, classAddress, navigate } from "../app/router.ts";
import { formatNumber, language } from "../i18n/index.ts";
import { useAttempt, useFetched } from "../parts/asking.ts";
import { Button, Loading, Named, ProblemNote } from "../parts/parts.tsx";
import { PinCard } from "./PinCard.tsx";
import { say } from "./words.ts";

const MOST_CLASSES = 8;

interface GraphBoardProps {
  /** Null: the sample graph, which was not added. */
  readonly graph: string | null;
}

export function GraphBoard({ graph }: GraphBoardProps) {
  const found = useFetched(`${graph} ${language.value}`, (signal) => boardOfGraph(graph, signal));
  const [attempt, refused] = useAttempt();
  const board = found.value;
  const keep = (name: string) =>
    attempt(async () => {
      const { id } = await keepBoard(graphTitle(name).slice(0, 200), name);
      navigate(`/boards/${id}`);
    });
  return (
    <section class="stack board" aria-label={say.made} aria-busy={found.busy}>
      <div class="row spread">
        <h2 class="section-title">{say.made}</h2>
        {graph !== null && board && board.content.length > 0 && (
          <Button icon="pin" onClick={() => void keep(graph)} text={say.keep} />
        )}
      </div>
      <ProblemNote problem={found.problem ?? refused} again={found.again} />
      {!board && !found.problem && <Loading />}
      {board && (
        <>
          {board.content.length === 0 && <p class="muted">{say.noAnswers}</p>}
          <ol class="tiles pins">
            <Contents board={board} />
            {board.content.map((pin) => (
              <PinCard key={pin.id} pin={pin} />
            ))}
          </ol>
          {graph !== null && board.questions.length > 0 && (
            <>
              <h3>{say.startWith}</h3>
              <ul class="row starter-links">
                {board.questions.map((question) => (
                  <li key={question}>
                    <Named href={askAddress(question, [graph])}>{question}</Named>
                  </li>
                ))}
              </ul>
            </>
          )}
        </>
      )}
    </section>
  );
}

/** The largest classes with their counts. */
function Contents({ board: { title, classes, total_classes } }: { board: GraphBoardView }) {
  const more = total_classes - Math.min(classes.length, MOST_CLASSES);
  if (classes.length === 0) return null;
  return (
    <Tile>
      <h2 class="pin-head">{say.contents}</h2>
      <ul class="ruled">
        {classes.slice(0, MOST_CLASSES).map(({ iri, label, instances }) => (
          <li key={iri} class="row spread nowrap">
            <Named class="clip" href={classAddress(title, iri)}>
              {label}
            </Named>
            <span class="muted number">{formatNumber(instances)}</span>
          </li>
        ))}
      </ul>
      {more > 0 && <p class="muted small">{say.moreClasses(more)}</p>}
    </Tile>
  );
}

interface TileProps {
  readonly children: ComponentChildren;
  readonly pin?: string;
  readonly onNear?: () => void;
}

/** A tile of a board, as high as the others in its row. */
export function Tile({ children, pin, onNear }: TileProps) {
  const tile = useRef<HTMLLIElement>(null);
  useLayoutEffect(() => {
    const { current } = tile;
    if (!current) return;
    const near = new IntersectionObserver((seen) => {
      if (!seen.some((one) => one.isIntersecting)) return;
      near.disconnect();
      onNear?.();
    });
    near.observe(current);
    return () => near.disconnect();
  }, []);
  return (
    <li class="card pin-card" data-pin={pin} ref={tile}>
      {children}
    </li>
  );
}
