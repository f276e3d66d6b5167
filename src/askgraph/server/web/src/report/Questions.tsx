// The list of questions, with the form that chooses them, a batch of rows at a time.

import { useEffect, useState } from "preact/hooks";
import { formatSeconds } from "../i18n/index.ts";
import { Button } from "../parts/parts.tsx";
import { choice, EVERYTHING, type Listed, listed, natural } from "./choice.ts";
import { type Answer, counted, GRADES, index, mainScore, spoken } from "./data.ts";
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
        <p id="more">
          <Button look="" onClick={() => setShown(shown + BATCH)}>
            Show more ({left.toLocaleString("en")} left)
          </Button>
        </p>
      )}
    </>
  );
}

type Options = readonly (readonly [value: string, words: string])[];

/** The choices of the form: label, name, options, and the label for no choice, if allowed. */
function choicesOf(): [label: string, name: string, options: Options, all: string | null][] {
  const answers = index.questions.flatMap((question) => question.answers);
  const differ = several ? { differ: "methods differ" } : {};
  const seconds = index.times ? { seconds: "seconds" } : {};
  const orders = { given: "as in the file", score: "score", confidence: "confidence" };
  return [
    ["Benchmark", "benchmark", named(index.benchmarks), "all"],
    ["Method", "system", named(index.systems), "all"],
    ["Score", "score", Object.entries({ ...GRADES, ...differ }), "any"],
    ["Failure", "failure", tallyValues(answers.flatMap(({ failure }) => failure ?? [])), "any"],
    ["Outcome", "status", tallyValues(answers.map(({ status }) => status)), "any"],
    ["Tag", "tag", tallyValues(index.questions.flatMap(({ tags }) => tags)), "any"],
    ["Order", "order", Object.entries({ ...orders, ...seconds, id: "id" }), null],
  ];
}

function ChoiceForm() {
  const take = (form: HTMLFormElement) => {
    choice.value = { ...EVERYTHING, ...Object.fromEntries(new FormData(form)) };
  };
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
      {choicesOf().map(([label, name, options, all]) => (
        <label key={name} hidden={options.length < (all === "all" ? 2 : 1)}>
          {label}
          <select class="field" name={name}>
            {all && <option value="">{all}</option>}
            {options.map(([value, words]) => (
              <option key={value} value={value}>
                {words}
              </option>
            ))}
          </select>
        </label>
      ))}
      <label class="check">
        <input type="checkbox" name="down" /> reversed
      </label>
      <Button look="" type="reset" text="Clear" />
    </form>
  );
}

function named(values: readonly string[]): Options {
  return values.map((value) => [value, value]);
}

/** Values with how often they occur. */
function tallyValues(values: readonly string[]): Options {
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
  const { id, benchmark, link, text } = question;
  return (
    <tr>
      <td>
        <a href={link} dir="auto">
          {text || "(no text)"}
        </a>
        <div class="under muted small broken">
          {index.benchmarks.length > 1 ? `${benchmark} · ${id}` : id}
        </div>
      </td>
      {several
        ? index.systems.map((name, at) => {
            const answer = answers.find(({ system }) => system === at);
            return (
              <td
                key={name}
                class="number"
                title={answer?.failure ? spoken(answer.failure) : undefined}
                data-label={name}
              >
                {answer ? <ScoreTag score={mainScore(answer)} /> : "–"}
              </td>
            );
          })
        : answers.map((answer) => <OwnCells key={answer.system} answer={answer} />)}
    </tr>
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
