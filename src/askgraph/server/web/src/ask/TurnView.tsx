// One question of the conversation, and its answer as it forms.

import { useEffect, useRef, useState } from "preact/hooks";
import type { RunView } from "../api/types.ts";
import { graphTitle } from "../app/known.ts";
import { formatSeconds } from "../i18n/index.ts";
import { LOOKS, useMarks } from "../parts/marks.ts";
import { methodTitle } from "../parts/methods.ts";
import { Button, joinWithDots, Note, ProblemNote } from "../parts/parts.tsx";
import { AnswerPart } from "./AnswerPart.tsx";
import { again, stop, type Turn } from "./conversation.ts";
import { WaysOn } from "./Options.tsx";
import { Steps, stepTitle } from "./Steps.tsx";
import { say } from "./words.ts";

interface TurnViewProps {
  readonly turn: Turn;
  readonly isFirst: boolean;
  readonly isLast: boolean;
}

export function TurnView({ turn, isFirst, isLast }: TurnViewProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const article = useRef<HTMLElement>(null);
  const run = turn.run.value;
  useMarks(article, turn.marked.value.marks);
  const wasAsked = useRef(run === null).current;
  useEffect(() => {
    if (wasAsked) heading.current?.focus({ preventScroll: true });
  }, []);
  useEffect(() => {
    // Scroll again when the answer arrives: until then the page may be too short.
    if (wasAsked && !isFirst)
      heading.current?.scrollIntoView({ block: "start", behavior: "smooth" });
  }, [run === null]);
  const Heading = isFirst ? "h1" : "h2";
  return (
    <article
      class="turn stack"
      ref={article}
      data-state={turn.state.value}
      data-run={turn.id.value ?? undefined}
    >
      {isFirst && run && run.before.length > 0 && <Earlier before={run.before} />}
      <Heading class="turn-question" ref={heading} tabIndex={-1} dir="auto">
        <QuestionWords turn={turn} />
      </Heading>
      {run && (
        <p class="turn-about faint">
          {joinWithDots(
            run.graphs.map(graphTitle).join(", "),
            ...answererWords(run),
            run.seconds !== null && formatSeconds(run.seconds),
          )}
        </p>
      )}
      <Body turn={turn} isLast={isLast} />
    </article>
  );
}

/** The question; a word that became a part of the query has a mark, one that is unused is grey. */
function QuestionWords({ turn }: { turn: Turn }) {
  const { words } = turn.marked.value;
  const unused = new Set(turn.run.value?.answer?.unused_words.flatMap((word) => word.split(" ")));
  if (words.length === 0)
    return <>{turn.question || (turn.state.value === "failed" && say.refusal)}</>;
  return (
    <>
      {words.map(({ text, mark, means }, at) =>
        mark ? (
          <mark
            key={at}
            // biome-ignore lint/a11y/noNoninteractiveTabindex: focused, it shows what it became
            tabIndex={0}
            data-mark={mark}
            style={LOOKS[mark - 1]}
            title={say.means(text, means)}
          >
            {text}
          </mark>
        ) : (
          text.split(/([\p{L}\p{N}]+)/u).map((word) => {
            const note = unused.has(word) && { class: "faint", title: say.unusedWord };
            return note ? <span {...note}>{word}</span> : word;
          })
        ),
      )}
    </>
  );
}

/** Names who answered: the method and its model, or those that `auto` chose. */
function answererWords(run: RunView): (string | null)[] {
  const by = run.answer?.answered_by;
  if (!by) return [methodTitle(run.method), run.model];
  return [methodTitle(by.method), by.failed ? say.modelFailed(by.model) : by.model];
}

function Body({ turn, isLast }: { turn: Turn; isLast: boolean }) {
  const run = turn.run.value;
  if (turn.isRunning && turn.question === "") return <p class="muted later">{say.asking}</p>;
  if (turn.isRunning) return <Progress turn={turn} />;
  if (turn.state.value === "done" && run?.answer)
    return <AnswerPart {...{ turn, run, isLast }} answer={run.answer} />;
  const retry = turn.question === "" ? undefined : () => again(turn);
  return (
    <>
      {turn.problem.value ? (
        <>
          <ProblemNote problem={turn.problem.value} again={retry} />
          <WaysOn question={turn.question} graphs={turn.graphs} />
        </>
      ) : (
        <Note look="stack">
          <p>
            <strong>{say.stopped}.</strong> {say.stoppedMore}
          </p>
          <p>{retry && <Button onClick={retry} text={say.askAgain} />}</p>
        </Note>
      )}
      <Steps steps={turn.steps.value} />
    </>
  );
}

function Earlier({ before }: { before: readonly { readonly question: string }[] }) {
  return (
    <section class="earlier" aria-label={say.earlier}>
      <h2 class="faint">{say.earlier}</h2>
      <ol>
        {before.map((one) => (
          <li key={one.question} dir="auto">
            {one.question}
          </li>
        ))}
      </ol>
    </section>
  );
}

/** Progress is shown after this delay, so that quick answers neither flicker nor wait for it. */
const SHOWN_AFTER = 250;

/** The progress of a question: the current step, the time so far, and a button that stops it. */
function Progress({ turn }: { turn: Turn }) {
  const [elapsed, setElapsed] = useState(() => performance.now() - turn.begun);
  useEffect(() => {
    const timer = setInterval(() => setElapsed(performance.now() - turn.begun), 100);
    return () => clearInterval(timer);
  }, [turn]);
  if (elapsed < SHOWN_AFTER) return <div class="progress" />;
  const last = turn.steps.value.at(-1);
  const step = last ? stepTitle(last) : say.asking;
  const doing = turn.state.value === "queued" ? say.queued(turn.ahead.value) : step;
  return (
    <>
      <div class="progress row nowrap">
        <span class="spinner" aria-hidden="true" />
        <span class="clip grow" role="status">
          <bdi>{doing}</bdi>
        </span>
        <span class="muted number" aria-hidden="true">
          {formatSeconds(elapsed / 1000)}
        </span>
        <Button icon="stop" onClick={() => void stop(turn)} text={say.stop} />
      </div>
      <Steps steps={turn.steps.value} isRunning />
    </>
  );
}
