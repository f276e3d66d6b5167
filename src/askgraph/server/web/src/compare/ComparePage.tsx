// One question, answered by several methods side by side.

import { useEffect, useState } from "preact/hooks";
import { cancel } from "../api/ask.ts";
import type { MethodsView } from "../api/types.ts";
import type { PageProps } from "../app/App.tsx";
import { knownGraphs, knownMethods, knownServer, need } from "../app/known.ts";
import { navigate } from "../app/router.ts";
import { GraphChooser } from "../ask/Choosers.tsx";
import { chooseGraphs, chooseModel, chosenGraphs } from "../ask/choices.ts";
import type { Turn } from "../ask/conversation.ts";
import { methodTitle, methodWords, missingWords } from "../parts/methods.ts";
import { Button, Choice, Field, Form, ProblemNote, Select } from "../parts/parts.tsx";
import { groups, lettersOf } from "./agreement.ts";
import { begin, type Contest, entries, leave, recall } from "./contest.ts";
import { EntryCard } from "./EntryCard.tsx";
import { say } from "./words.ts";

export function ComparePage({ query }: PageProps) {
  const asked = contestOf(query);
  useEffect(() => {
    need(knownGraphs, knownMethods, knownServer);
    const runs = query.getAll("run");
    const shown = entries.value.map((turn) => turn.id.value);
    if (runs.length > 0 && runs.join() !== shown.join()) void recall(runs);
    return leave;
  }, []);
  const methods = knownMethods.value.value;
  const problem = knownMethods.problem.value ?? knownGraphs.problem.value;
  const ask = (contest: Contest) => {
    const needsModel = (name: string) =>
      methods?.methods.some((method) => method.name === name && method.needs_model) ?? false;
    begin(contest, needsModel, () => navigate(addressOf(contest), { replace: true }));
    navigate(addressOf(contest), { replace: true });
  };
  const finished = entries.value.flatMap((turn) => turn.run.value ?? []);
  const letters = lettersOf(groups(finished));
  const first = entries.value.find((turn) => turn.run.value?.answer?.sparql) ?? null;
  return (
    <div class="page stack">
      <h1>{say.title}</h1>
      <p class="muted">{say.lead}</p>
      <ProblemNote problem={problem} />
      {methods && knownGraphs.value.value && (
        <CompareForm asked={asked} methods={methods} onAsk={ask} />
      )}
      {entries.value.length > 0 && (
        <>
          <Summary turns={entries.value} />
          <div class="tiles entries">
            {entries.value.map((turn) => (
              <EntryCard
                key={turn.key}
                turn={turn}
                letter={letters.get(turn.id.value ?? "") ?? null}
                against={first === turn ? null : first}
              />
            ))}
          </div>
        </>
      )}
    </div>
  );
}

/** Returns the comparison that the address describes; missing parts are "" or empty. */
function contestOf(query: URLSearchParams): Contest {
  return {
    question: query.get("q") ?? "",
    graphs: query.getAll("graph"),
    methods: query.getAll("method"),
    model: query.get("model"),
  };
}

/** The address of a comparison with its runs, so that opening it asks nothing again. */
function addressOf({ question, graphs, methods, model }: Contest): string {
  const query = new URLSearchParams({ q: question });
  for (const graph of graphs) query.append("graph", graph);
  for (const method of methods) query.append("method", method);
  if (model) query.set("model", model);
  for (const { id } of entries.value) if (id.value) query.append("run", id.value);
  return `/compare?${query}`;
}

// A sentence about whether the methods agree.

function Summary({ turns }: { turns: readonly Turn[] }) {
  const running = turns.filter((turn) => turn.isRunning);
  const stopAll = () => {
    for (const { id } of running) if (id.value) void cancel(id.value).catch(() => undefined);
  };
  return (
    <div class="summary large row">
      <p role="status">
        {running.length > 0
          ? say.running(turns.length - running.length, turns.length)
          : verdict(turns)}
      </p>
      {running.length > 0 && <Button onClick={stopAll} text={say.stopAll} />}
    </div>
  );
}

function verdict(turns: readonly Turn[]): string {
  const found = groups(turns.flatMap((turn) => turn.run.value ?? [])).filter(
    (group) => group.answered,
  );
  const largest = found[0]?.runs.length ?? 0;
  const answered = found.reduce((sum, group) => sum + group.runs.length, 0);
  if (answered === 0) return say.noneAnswers;
  if (answered === 1) return say.oneAnswers;
  if (largest === turns.length) return say.allAgree(largest);
  return largest > 1 ? say.someAgree(largest, turns.length) : say.noneAgree;
}

// The form of a comparison: the question, the graphs, the methods.

interface Props {
  /** The comparison of the address. */
  readonly asked: Contest;
  readonly methods: MethodsView;
  readonly onAsk: (contest: Contest) => void;
}

function CompareForm({ asked, methods, onAsk }: Props) {
  const [question, setQuestion] = useState(asked.question);
  const [chosen, setChosen] = useState<readonly string[]>(() => chooseMethods(asked, methods));
  const [model, setModel] = useState(asked.model ?? methods.models[0]?.name ?? null);
  useEffect(() => {
    if (asked.graphs.length > 0) chooseGraphs(asked.graphs);
  }, []);
  const needsModel = methods.methods.some(
    (method) => method.needs_model && chosen.includes(method.name),
  );
  const usableFirst = methods.methods.toSorted((a, b) => Number(b.usable) - Number(a.usable));
  const ready = question.trim() !== "" && chosen.length >= 2;
  const toggle = (name: string, on: boolean) => {
    const next = on ? [...chosen, name] : chosen.filter((one) => one !== name);
    setChosen(methods.methods.map((method) => method.name).filter((one) => next.includes(one)));
  };
  return (
    <Form
      class="card stack compare-form"
      onSend={() => {
        const contest = { question: question.trim(), graphs: chosenGraphs.value, methods: chosen };
        if (ready) onAsk({ ...contest, model: needsModel ? model : null });
      }}
    >
      <Field
        label={say.question}
        value={question}
        onText={setQuestion}
        input={{ dir: "auto", autocomplete: "off", maxLength: 4000, placeholder: say.placeholder }}
      />
      <fieldset>
        <legend class="label">{say.methods}</legend>
        <div class="tiles method-choices">
          {usableFirst.map((method) => (
            <Choice
              key={method.name}
              name={methodTitle(method.name)}
              more={missingWords(method) ?? methodWords(method)}
              title={method.missing ?? null}
              checked={chosen.includes(method.name)}
              disabled={!method.usable}
              onChange={(on) => toggle(method.name, on)}
            />
          ))}
        </div>
      </fieldset>
      <div class="row">
        <GraphChooser />
        {needsModel && methods.models.length > 0 && (
          <Select
            class="row small"
            label={say.model}
            labelled="small"
            value={model ?? ""}
            options={methods.models.map(({ name }) => [name, name])}
            onChoose={(name) => {
              setModel(name);
              chooseModel(name);
            }}
          />
        )}
        {chosen.length < 2 && <span class="muted small">{say.fewer}</span>}
        <Button look="primary compare-button at-end" type="submit" disabled={!ready}>
          {say.compare}
        </Button>
      </div>
    </Form>
  );
}

/** The methods of the address; else the default one and the next available one. */
function chooseMethods(asked: Contest, methods: MethodsView): string[] {
  const usable = methods.methods.filter((method) => method.usable).map((method) => method.name);
  const wanted = usable.filter((name) => asked.methods.includes(name));
  if (wanted.length > 0) return wanted;
  const others = usable.filter((name) => name !== methods.default);
  return usable.filter((name) => [methods.default, others[0]].includes(name));
}
