// One question in full: gold beside every answer, their results, the scores and the traces.

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { type Token, tokenLines } from "../editor/sparql.ts";
import { formatSeconds } from "../i18n/index.ts";
import { useFetched } from "../parts/asking.ts";
import { CopyButton, QuietButton } from "../parts/parts.tsx";
import { listed } from "./choice.ts";
import {
  type Answer,
  compareLines,
  counted,
  type Detail,
  detailsOf,
  index,
  isPrologue,
  mainScore,
  percent,
  type Question,
  type Rows,
  spoken,
  type Value,
} from "./data.ts";
import { ScoreTag } from "./ScoreTag.tsx";
import { Trace } from "./Trace.tsx";

/** An answer with its trace and its results. */
export type Detailed = Answer & Partial<Detail>;

export function QuestionView({ question }: { question: Question }) {
  const { value: details } = useFetched(question.link, () => detailsOf(question));
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    scrollTo(0, 0);
    heading.current?.focus({ preventScroll: true });
  }, [details]);
  if (!details) return null;
  const answers = question.answers.map((answer, at): Detailed => ({ ...answer, ...details[at] }));
  return (
    <>
      <Steering question={question} />
      <h1 id="asked" ref={heading} tabIndex={-1} dir="auto">
        {question.text || "(no text)"}
      </h1>
      <About question={question} />
      <Columns question={question} answers={answers} />
      <h3>Scores</h3>
      <Scores answers={answers} />
      <h3>{answers.length === 1 ? "Trace" : "Traces"}</h3>
      {answers.map((answer) => (
        <Trace key={answer.system} answer={answer} />
      ))}
    </>
  );
}

function Steering({ question }: { question: Question }) {
  const all = listed.value;
  const at = all.findIndex((item) => item.question === question);
  const to = (step: number, words: string, key: string) => {
    const link = at < 0 ? undefined : all[at + step]?.question.link;
    if (!link) return <span class="none">{words}</span>;
    return (
      <a href={link} data-key={key}>
        {words}
      </a>
    );
  };
  return (
    <nav class="row" aria-label="questions">
      <a href="#questions" data-key="Escape">
        All questions
      </a>
      <span class="at-end" />
      {to(-1, "← Previous", "ArrowLeft")}
      <span class="muted small">{at < 0 ? "" : `${at + 1} of ${all.length}`}</span>
      {to(1, "Next →", "ArrowRight")}
    </nav>
  );
}

function About({ question }: { question: Question }) {
  const { benchmark, id, language, tags, form, patterns, unanswerable } = question;
  const said = [benchmark, id, language, form].filter(Boolean);
  if (patterns) said.push(counted(patterns, "triple pattern"));
  if (unanswerable) said.push("the graph holds no answer");
  return (
    <p class="about row muted small broken">
      {said.map((word) => (
        <span key={word}>{word}</span>
      ))}
      {tags.map((tag) => (
        <span key={tag} class="chip">
          {tag}
        </span>
      ))}
      <a href={question.link}>link to this question</a>
    </p>
  );
}

function Columns({ question, answers }: { question: Question; answers: readonly Detailed[] }) {
  const [asWritten, setAsWritten] = useState(false);
  const gold = asWritten ? question.gold : (question.gold_laid ?? question.gold);
  const texts = answers.map((a) => (asWritten ? a.sparql : (a.sparql_laid ?? a.sparql)));
  const differing = texts.map((text) => (gold && text ? compareLines(gold, text) : null));
  const compared = differing.flatMap((found) => (found ? [found[0]] : []));
  const lacking = [...(compared[0] ?? [])].filter((at) => compared.every((lines) => lines.has(at)));
  const goldError = answers.find((answer) => answer.gold_error)?.gold_error;
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keys */}
      <div class="columns" tabIndex={0} role="group" aria-label="gold and answers">
        <Column
          head={<h3>Gold</h3>}
          query={gold}
          written={question.gold}
          marked={{ lines: new Set(lacking), why: "not in the answer" }}
          none={question.unanswerable ? "The graph holds no answer." : "No gold query."}
        >
          {goldError && <Fault what="Gold query" text={goldError} />}
          <Result result={answers.find((answer) => answer.gold)?.gold ?? null} />
        </Column>
        {answers.map((answer, at) => (
          <Column
            key={answer.system}
            head={<AnswerHead answer={answer} />}
            query={texts[at] ?? null}
            written={answer.sparql}
            marked={{ lines: differing[at]?.[1] ?? new Set(), why: "not in gold" }}
            none="No query."
          >
            {answer.error && <Fault what="Error" text={answer.error} />}
            <Result result={answer.predicted ?? null} />
            <RowsApart title="Only in gold" sign="−" rows={answer.missing} result={answer.gold} />
            <RowsApart
              title="Only in the answer"
              sign="+"
              rows={answer.extra}
              result={answer.predicted}
            />
          </Column>
        ))}
      </div>
      <p class="muted small">
        Marked lines are those that the other side lacks; the names of variables do not count.
      </p>
      <label class="muted small">
        <input
          type="checkbox"
          checked={asWritten}
          onChange={(event) => setAsWritten(event.currentTarget.checked)}
        />{" "}
        Show the queries as they were written
      </label>
    </>
  );
}

interface ColumnProps {
  readonly head: ComponentChildren;
  readonly query: string | null;
  readonly written: string | null;
  readonly marked: Marked;
  readonly none: string;
  readonly children: ComponentChildren;
}

function Column({ head, query, written, marked, none, children }: ColumnProps) {
  return (
    <section class="column">
      <header>{head}</header>
      {query ? (
        <div class="query-card">
          <CopyButton text={written ?? query} look="quiet small" />
          <Query query={query} marked={marked} />
        </div>
      ) : (
        <p class="none">{none}</p>
      )}
      <div class="result">{children}</div>
    </section>
  );
}

function AnswerHead({ answer }: { answer: Answer }) {
  const { usage } = answer;
  const tokens = usage.input_tokens + usage.output_tokens;
  const words = [
    spoken(answer.status),
    `confidence ${answer.confidence.toFixed(2)}`,
    answer.failure && spoken(answer.failure),
    answer.sparql && !answer.executed && "query did not run",
    answer.attempts > 1 && counted(answer.attempts, "attempt"),
    index.times && formatSeconds(answer.seconds ?? 0),
    usage.requests && counted(usage.requests, "request"),
    usage.llm_calls && counted(usage.llm_calls, "model call"),
    tokens && counted(tokens, "token"),
    usage.money && `${usage.money.toFixed(4)} money`,
  ];
  return (
    <>
      <h3>{index.systems[answer.system]}</h3>
      <p class="about row muted small">
        <ScoreTag score={mainScore(answer)} />
        {words.map((word) => word && <span key={word}>{word}</span>)}
      </p>
    </>
  );
}

function Fault({ what, text }: { what: string; text: string }) {
  return (
    <p class="fault broken">
      <strong>{what}: </strong>
      {text}
    </p>
  );
}

function Scores({ answers }: { answers: readonly Answer[] }) {
  const names = answers.map(({ system }) => index.systems[system] ?? "");
  return (
    <Table label="scores of every metric" head={["Metric", ...(names.length > 1 ? names : ["F1"])]}>
      {index.metrics.map((name) => (
        <tr key={name}>
          <th scope="row">{name}</th>
          {answers.map(({ system, scores: { [name]: score } }) => (
            <td key={system}>
              {score ? <ScoreTag score={score[2]} /> : "–"}
              {score && (
                <span class="muted small">
                  {"\u2003"}precision {percent(score[0])}, recall {percent(score[1])}
                </span>
              )}
            </td>
          ))}
        </tr>
      ))}
    </Table>
  );
}

// A query in colours, its prefixes folded away, and the lines marked that the other query lacks.

interface Marked {
  readonly lines: ReadonlySet<number>;
  readonly why: string;
}

export function Query({ query, marked }: { query: string; marked?: Marked }) {
  const first = query.split("\n").findIndex((line) => !isPrologue(line));
  const start = Math.max(0, first);
  const all = tokenLines(query).map((tokens, at) => (
    <Line key={at} tokens={tokens} why={marked?.lines.has(at) ? marked.why : undefined} />
  ));
  return (
    <div class="query">
      {start > 0 && (
        <details class="prologue">
          <summary class="small">{counted(start, "prefix line")}</summary>
          <pre>{all.slice(0, start)}</pre>
        </details>
      )}
      <pre>
        <code>{all.slice(start)}</code>
      </pre>
    </div>
  );
}

/** The colours of tokens that have none of their own. */
const ROLES = new Map<string | null, string>([
  ["function", "keyword"],
  ["bool", "keyword"],
  ["iri", "text"],
  ["string", "text"],
  ["meta", "text"],
]);

const colourOf = (kind: string | null) => `var(--code-${ROLES.get(kind) ?? kind})`;

function Line({ tokens, why }: { tokens: readonly Token[]; why: string | undefined }) {
  const Tag = why === undefined ? "span" : "mark";
  return (
    <>
      <Tag class="query-line" title={why}>
        {tokens.map(({ kind, text }, at) => (
          <span key={at} class={`t-${kind}`} style={{ color: colourOf(kind) }}>
            {text}
          </span>
        ))}
      </Tag>
      {"\n"}
    </>
  );
}

// Rows of a result, and the tables of a question.

const SHOWN = 10;

interface TableProps {
  readonly label: string;
  readonly head: readonly string[];
  readonly class?: string;
  readonly children: ComponentChildren;
}

/** A table that scrolls if it is too wide. */
export function Table({ label, head, children, ...rest }: TableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keys
    <div class="scroll" tabIndex={0} role="group" aria-label={label}>
      <table class={rest.class}>
        <thead>
          <tr>
            {head.map((name, at) => (
              <th key={at} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

/** A result: its size, and its first rows. */
function Result({ result }: { result: Rows | null }) {
  if (!result) return <p class="none">No result.</p>;
  const { columns, rows, n } = result;
  const size = `${counted(n, "row")}, ${counted(columns.length, "column")}`;
  return (
    <>
      <p class="muted small">{n > rows.length ? `${size}; the first ${rows.length}` : size}</p>
      {n > 0 && <RowTable columns={columns} rows={rows} />}
    </>
  );
}

interface ApartProps {
  readonly title: string;
  readonly sign: string;
  readonly rows: Rows["rows"] | undefined;
  readonly result: Rows | null | undefined;
}

/** Rows that only one of two results has. */
function RowsApart({ title, sign, rows, result }: ApartProps) {
  if (!rows?.length) return null;
  const columns = result?.columns ?? rows[0]?.map((_, at) => `${at + 1}`) ?? [];
  const all =
    rows.length >= index.head ? `the first ${rows.length} rows` : counted(rows.length, "row");
  return (
    <details class="apart" open>
      <summary class="small">
        <b aria-hidden="true">{sign}</b> {title}: {all}
      </summary>
      <RowTable columns={columns} rows={rows} />
    </details>
  );
}

function RowTable({ columns, rows }: Pick<Rows, "columns" | "rows">) {
  const [all, setAll] = useState(false);
  return (
    <>
      <Table label="rows of a result" class="values lines" head={columns.map((name) => `?${name}`)}>
        {rows.slice(0, all ? undefined : SHOWN).map((row, at) => (
          <tr key={at}>
            {row.map((value, column) => (
              <td key={column}>
                <Term value={value} />
              </td>
            ))}
          </tr>
        ))}
      </Table>
      {!all && rows.length > SHOWN && (
        <QuietButton onClick={() => setAll(true)}>Show all {rows.length}</QuietButton>
      )}
    </>
  );
}

/** Splits an IRI into its namespace and a last piece that is meaningful on its own. */
const IRI = /^(https?:.*?[/#])([^/#]+(?:#(?:this|it|me|id))?)$/;

function Term({ value }: { value: Value }) {
  if (value === null) return <i class="none">unbound</i>;
  const split = typeof value === "string" ? IRI.exec(value) : null;
  if (!split) return <>{String(value)}</>;
  return (
    <span title={split[0]}>
      <span class="muted small">{split[1]}</span>
      {split[2]}
    </span>
  );
}
