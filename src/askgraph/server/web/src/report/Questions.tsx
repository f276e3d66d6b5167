// The list of questions, with the form that chooses them, a batch of rows at a time.

import { useEffect, useState } from "preact/hooks";
import { formatSeconds } from "../i18n/index.ts";
import { Button } from "../parts/parts.tsx";
import { choice, EVERYTHING, type Listed, listed, natural } from "./choice.ts";
import { type Answer, counted, index, mainScore, spoken } from "./data.ts";
import { ScoreTag } from "./ScoreTag.tsx";

const BATCH = 60;
const several = index.systems.length > 1;

export function Questions() {
  const found = listed.value;
  const [shown, setShown] = useState(BATCH);
  useEffect(() => setShown(BATCH), [found]);
  const answers = found.reduce((sum, item) => sum + item.answers.length, 0);
  const left = found.length - shown;
  return (
    <>
      <h2>Questions</h2>
      <ChoiceForm />
      <p class="muted small">
        <span id="count" role="status">
          {counted(found.length, "question")}
          {several && `, ${counted(answers, "answer")}`}
        </span>
        <span class="keys">
          Keys: <kbd>/</kbd> search, <kbd>←</kbd> <kbd>→</kbd> neighbours of a question,{" "}
          <kbd>Esc</kbd> back to the list.
        </span>
      </p>
      <table id="list">
        <thead id="list-head">
          <Head />
        </thead>
        <tbody id="rows">
          {found.slice(0, shown).map((item) => (
            <Row key={item.question.link} {...item} />
          ))}
        </tbody>
      </table>
      {left > 0 && (
        <Button look="" id="more" onClick={() => setShown(shown + BATCH)}>
          Show more ({left.toLocaleString("en")} left)
        </Button>
      )}
    </>
  );
}

function ChoiceForm() {
  const take = (form: HTMLFormElement) => {
    choice.value = { ...EVERYTHING, ...Object.fromEntries(new FormData(form)) };
  };
  const answers = index.questions.flatMap((question) => question.answers);
  const scores = { right: "right", part: "in part", wrong: "wrong", differ: "methods differ" };
  const orders = {
    given: "as in the file",
    score: "score",
    confidence: "confidence",
    seconds: "seconds",
    id: "id",
  };
  const usable = Object.entries({ ...scores }).filter(([name]) => several || name !== "differ");
  const sortable = Object.entries(orders).filter(([name]) => index.times || name !== "seconds");
  return (
    <form
      id="choice"
      role="search"
      aria-label="questions"
      onInput={(event) => take(event.currentTarget)}
      onReset={({ currentTarget: form }) => setTimeout(() => take(form))}
      onSubmit={(event) => event.preventDefault()}
    >
      <label class="wide">
        Search in questions, ids and queries
        <input
          class="field"
          type="search"
          name="text"
          autocomplete="off"
          placeholder="words, a variable, an IRI …"
        />
      </label>
      <Choose label="Benchmark" name="benchmark" all="all" options={named(index.benchmarks)} />
      <Choose label="Method" name="system" all="all" options={named(index.systems)} />
      <Choose label="Score" name="score" options={usable} />
      <Choose
        label="Failure"
        name="failure"
        options={tallied(answers.flatMap(({ failure }) => failure ?? []))}
      />
      <Choose
        label="Outcome"
        name="status"
        options={tallied(answers.map(({ status }) => status))}
      />
      <Choose
        label="Tag"
        name="tag"
        options={tallied(index.questions.flatMap(({ tags }) => tags))}
      />
      <Choose label="Order" name="order" all={null} options={sortable} />
      <label class="check">
        <input type="checkbox" name="down" /> reversed
      </label>
      <Button look="" type="reset">
        Clear
      </Button>
    </form>
  );
}

type Options = readonly (readonly [value: string, words: string])[];

interface ChooseProps {
  readonly label: string;
  readonly name: string;
  readonly options: Options;
  /** The word for no choice; null if one must be made. */
  readonly all?: string | null;
}

/** A choice of values; hidden if there is nothing to choose. */
function Choose({ label, name, options, all = "any" }: ChooseProps) {
  const least = all === "all" ? 2 : 1;
  return (
    <label hidden={options.length < least}>
      {label}
      <select class="field" name={name}>
        {all !== null && <option value="">{all}</option>}
        {options.map(([value, words]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}

function named(values: readonly string[]): Options {
  return values.map((value) => [value, value]);
}

/** Values with how often they occur. */
function tallied(values: readonly string[]): Options {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const sorted = [...counts].sort(([one], [other]) => natural.compare(one, other));
  return sorted.map(([value, count]) => [value, `${spoken(value)} (${count})`]);
}

function Head() {
  const own = ["Score", "Confidence", "Failure", ...(index.times ? ["Time"] : [])];
  return (
    <tr>
      <th scope="col">Question</th>
      {(several ? index.systems : own).map((name) => (
        <th key={name} scope="col" class={!several && name === "Failure" ? "failure" : "number"}>
          {name}
        </th>
      ))}
    </tr>
  );
}

function Row({ question, answers }: Listed) {
  const isOneOfMany = index.benchmarks.length > 1;
  return (
    <tr>
      <td>
        <a href={question.link} dir="auto">
          {question.text || "(no text)"}
        </a>
        <span class="under muted small">
          {isOneOfMany ? `${question.benchmark} · ${question.id}` : question.id}
        </span>
      </td>
      {several ? (
        index.systems.map((name, at) => (
          <ScoreCell key={name} name={name} answer={answers.find(({ system }) => system === at)} />
        ))
      ) : (
        <OwnCells answer={answers[0] as Answer} />
      )}
    </tr>
  );
}

function ScoreCell({ name, answer }: { name: string; answer: Answer | undefined }) {
  const failure = answer?.failure ? spoken(answer.failure) : undefined;
  return (
    <td class="number" title={failure} data-label={name}>
      {answer ? <ScoreTag score={mainScore(answer)} /> : "–"}
    </td>
  );
}

function OwnCells({ answer }: { answer: Answer }) {
  return (
    <>
      <td class="number">
        <ScoreTag score={mainScore(answer)} />
      </td>
      <td class="number" data-label="confidence">
        {answer.confidence.toFixed(2)}
      </td>
      <td class="failure">{answer.failure && spoken(answer.failure)}</td>
      {index.times && <td class="number">{formatSeconds(answer.seconds ?? 0)}</td>}
    </>
  );
}
