// A pinned answer: its heading and sentence, its view, and what changed since it was seen.

import { useId, useMemo, useState } from "preact/hooks";
import type { AnswerDisplay, ChangesView, PinView, Row } from "../api/types.ts";
import { graphTitle } from "../app/known.ts";
import { Later } from "../app/Later.tsx";
import { askAddress } from "../app/router.ts";
import { Result, results } from "../ask/AnswerPart.tsx";
import { HeadlineView, speakHeadline, wantsPlaces } from "../ask/HeadlineView.tsx";
import { formatTime } from "../i18n/index.ts";
import type { IconName } from "../parts/Icon.tsx";
import { Button, joinWithDots, ProblemNote } from "../parts/parts.tsx";
import { Renaming } from "./BoardPage.tsx";
import { countChanges, listChanges } from "./changes.ts";
import { Tile } from "./GraphBoard.tsx";
import { say } from "./words.ts";

interface PinCardProps {
  readonly pin: PinView;
  readonly own?: Own | false;
}

interface Own {
  readonly place: number;
  readonly of: number;
  readonly move: (place: number) => Promise<unknown>;
  readonly remove: () => void;
  readonly change: (change: { title?: string; shown?: AnswerDisplay }) => Promise<unknown>;
}

export function PinCard({ pin, own }: PinCardProps) {
  const { graph, changes } = pin;
  // A card has no room for why each row is there: the question says it.
  const answer = useMemo(() => ({ ...pin.answer, sparql: null }), [pin.answer]);
  const id = useId();
  // The views of a graph's board load when they come into the window: the answers are there first.
  const [isNear, setNear] = useState(own !== undefined);
  const marks = useMemo(
    () => new Map(changes?.rows.map(({ row, was }) => [row, was as Row | null])),
    [changes],
  );
  const shown = useMemo(() => pin.shown, [pin.shown.view, pin.shown.chart]);
  const view = {
    answer,
    runId: null,
    graph,
    query: pin.query,
    question: pin.question,
    shown,
    marks,
    wantsMap: answer.total > 1 && wantsPlaces(pin.question),
    onShown: (next: AnswerDisplay) => own && void own.change({ shown: next }),
  };
  const isWanted = Boolean(pin.shown.view) || marks.size > 0;
  const title = pin.title || pin.question;
  return (
    <Tile pin={pin.id} onNear={() => setNear(true)}>
      <article class="stack near" aria-labelledby={id}>
        <header class="pin-head row from-top">
          <h2 id={id} class="grow broken">
            <a href={pin.run ? `/run/${pin.run}` : askAddress(pin.question, [graph])}>
              <bdi>{title}</bdi>
            </a>
          </h2>
          {own && <PinTools {...own} title={title} />}
        </header>
        <p class="muted small">
          {joinWithDots(graphTitle(graph), say.asOf(formatTime(pin.checked)))}
        </p>
        {pin.problem && (
          <>
            <ProblemNote problem={pin.problem} />
            <p class="muted small">{say.notUpdated}</p>
          </>
        )}
        <div title={speakHeadline(answer)}>
          <HeadlineView answer={answer} graph={graph} />
        </div>
        {changes && <Changed pin={pin} changes={changes} />}
        {isNear && (isWanted ? <Later load={results} props={view} /> : <Result {...view} />)}
      </article>
    </Tile>
  );
}

function PinTools({ title, place, of, move, remove, change }: Own & { readonly title: string }) {
  const [isRenaming, setRenaming] = useState(false);
  const go = (to: number) => async (event: MouseEvent) => {
    const pressed = event.currentTarget as HTMLButtonElement;
    await move(to);
    // The pressed button moved with its card and may be disabled now.
    requestAnimationFrame(() => {
      const way = to > place ? "previousElementSibling" : "nextElementSibling";
      const next = pressed.disabled ? pressed[way] : pressed;
      if (next instanceof HTMLElement) next.focus();
    });
  };
  const tool = (icon: IconName, label: string, onClick: (event: MouseEvent) => unknown) => ({
    ...{ look: "quiet icon small", icon, label, onClick },
  });
  return (
    <div>
      {of > 1 && (
        <>
          <Button {...tool("up", say.earlier(title), go(place - 1))} disabled={place === 0} />
          <Button {...tool("down", say.later(title), go(place + 1))} disabled={place === of - 1} />
        </>
      )}
      <Button {...tool("pen", say.renamePin(title), () => setRenaming(true))} />
      <Button {...tool("bin", say.remove(title), remove)} />
      {isRenaming && (
        <Renaming
          title={say.renamePin(title)}
          label={say.heading}
          name={title}
          close={() => setRenaming(false)}
          save={(name) => change({ title: name })}
        />
      )}
    </div>
  );
}

function Changed({ pin, changes }: { pin: PinView; changes: ChangesView }) {
  const rows = listChanges(pin);
  return (
    <div class="pin-changes stack close">
      <p class="row small">
        <span>{say.since(formatTime(pin.seen))}</span>
        {countChanges(changes).map(([look, text]) => (
          <span key={look} class={`chip ${look}`}>
            {text}
          </span>
        ))}
      </p>
      {rows.length > 0 && (
        <details class="small">
          <summary>{say.changes}</summary>
          <ul class="stack close">
            {rows.map(({ look, kind, row, was }, at) => (
              <li key={at}>
                <span class={`chip ${look}`}>{kind}</span> <bdi>{row}</bdi>{" "}
                {was && <bdi class="muted">{say.wasCell(was)}</bdi>}
              </li>
            ))}
          </ul>
        </details>
      )}
      {changes.partly && <p class="muted small">{say.partly}</p>}
    </div>
  );
}
