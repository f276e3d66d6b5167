// The answer of one method.

import type { AnswerView, RunView } from "../api/types.ts";
import { stop, type Turn } from "../ask/conversation.ts";
import { HeadlineView } from "../ask/HeadlineView.tsx";
import { Progress } from "../ask/TurnView.tsx";
import { formatNumber, formatSeconds, named } from "../i18n/index.ts";
import { methodTitle } from "../parts/methods.ts";
import { Facts, ProblemNote } from "../parts/parts.tsx";
import { ResultView } from "../results/ResultView.tsx";
import { diffLines } from "./agreement.ts";
import { say } from "./words.ts";

interface Props {
  readonly turn: Turn;
  /** The letter of its result: the same for the same result; null if it has none. */
  readonly letter: string | null;
  /** The method whose query its own is compared with. */
  readonly against: Turn | null;
}

export function EntryCard({ turn, letter, against }: Props) {
  const run = turn.run.value;
  const method = run?.method ?? turn.asking?.method ?? "";
  return (
    <article class="card stack near entry" data-method={method} data-state={turn.state.value}>
      <header class="row spread">
        <h2>{methodTitle(method)}</h2>
        {letter && (
          <span
            class="chip result-letter"
            style={{ "--shade": `var(--series-${letter.charCodeAt(0) - 64}, var(--ink-2))` }}
            title={say.groupOf(letter)}
          >
            {say.group(letter)}
          </span>
        )}
      </header>
      {turn.isRunning && <Progress turn={turn} stop={() => void stop(turn)} />}
      {turn.state.value === "stopped" && <p class="muted">{say.stopped}</p>}
      {turn.problem.value && <ProblemNote problem={turn.problem.value} />}
      {run?.answer && <Answered run={run} answer={run.answer} against={against} />}
    </article>
  );
}

interface AnsweredProps {
  readonly run: RunView;
  readonly answer: AnswerView;
  readonly against: Turn | null;
}

function Answered({ run, answer, against }: AnsweredProps) {
  const graph = answer.graph ?? run.graphs[0] ?? "";
  const other = against?.run.value ?? null;
  return (
    <>
      {answer.status === "clarification" && (
        <p class="note">
          {named(say.asksBack)}
          <bdi>{answer.clarification}</bdi> ({say.readings(answer.options.length)})
        </p>
      )}
      {answer.status === "refusal" && (
        <p class="note warn">
          {named(say.noAnswer)}
          <bdi>{answer.reason}</bdi>
        </p>
      )}
      {answer.status === "answer" && <HeadlineView answer={answer} graph={graph} />}
      {answer.words && (
        <p class="small" dir="auto">
          {answer.words}
        </p>
      )}
      <Numbers run={run} answer={answer} />
      {answer.sparql && (
        <details>
          <summary>{say.query}</summary>
          <QueryDifference
            query={answer.sparql}
            other={other?.answer?.sparql ?? null}
            name={methodTitle(other?.method ?? "")}
          />
        </details>
      )}
      {answer.cells.length > 0 && (
        <details>
          <summary>{say.result}</summary>
          <ResultView answer={answer} runId={run.id} graph={graph} />
        </details>
      )}
      <p class="small">
        <a href={`/run/${run.id}`}>{say.open}</a>
      </p>
    </>
  );
}

function Numbers({ run, answer }: { run: RunView; answer: AnswerView }) {
  const { usage } = answer;
  const numbers: readonly (readonly [string, string])[] = [
    [say.time, formatSeconds(run.seconds ?? answer.seconds)],
    [say.sure, say.percent(Math.round((answer.confidence ?? 1) * 100))],
    [say.queries, formatNumber(usage.requests)],
    [say.tokens, formatNumber(usage.input_tokens + usage.output_tokens)],
    [say.money, usage.money === 0 ? "0" : usage.money.toFixed(4)],
  ];
  return <Facts class="facts-row row numbers number" facts={numbers} />;
}

// A query beside another one: the lines of both, and those of only one of them.

const SIGNS = { same: " ", removed: "−", added: "+" } as const;

interface QueryDifferenceProps {
  readonly query: string;
  /** The query that it is compared with; null shows it alone. */
  readonly other: string | null;
  /** Whose query the other is. */
  readonly name: string;
}

function QueryDifference({ query, other, name }: QueryDifferenceProps) {
  const lines = diffLines(other ?? query, query);
  const isSame = lines.every(({ kind }) => kind === "same");
  return (
    <figure class="query-difference stack close">
      {other !== null && (
        <figcaption class="muted small">
          {isSame ? say.sameQuery(name) : say.queryDiff(name)}
        </figcaption>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keys */}
      <pre tabIndex={0}>
        {lines.map(({ kind, text }, at) => (
          <span key={at} class={`query-line ${kind}`}>
            {kind !== "same" && <span class="seen-by-readers">{say[kind]}: </span>}
            <span aria-hidden="true">{SIGNS[kind]} </span>
            {text}
            {"\n"}
          </span>
        ))}
      </pre>
    </figure>
  );
}
