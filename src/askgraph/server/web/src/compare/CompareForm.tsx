// The form of a comparison: the question, the graphs, the methods.

import { useEffect, useState } from "preact/hooks";
import type { MethodsView, MethodView } from "../api/types.ts";
import { GraphChooser } from "../ask/Choosers.tsx";
import { chooseGraphs, chooseModel, chosenGraphs } from "../ask/choices.ts";
import { methodTitle, methodWords, missingWords } from "../parts/methods.ts";
import { Button, Choice, Field, Form, Select } from "../parts/parts.tsx";
import type { Contest } from "./contest.ts";
import { say } from "./words.ts";

interface Props {
  /** The comparison of the address. */
  readonly asked: Contest;
  readonly methods: MethodsView;
  readonly onAsk: (contest: Contest) => void;
}

export function CompareForm({ asked, methods, onAsk }: Props) {
  const [question, setQuestion] = useState(asked.question);
  const [chosen, setChosen] = useState<readonly string[]>(() => firstMethods(asked, methods));
  const [model, setModel] = useState(asked.model ?? methods.models[0]?.name ?? null);
  useEffect(() => {
    if (asked.graphs.length > 0) chooseGraphs(asked.graphs);
  }, []);
  const needsModel = methods.methods.some(
    (method) => method.needs_model && chosen.includes(method.name),
  );
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
          {inOrder(methods.methods).map((method) => (
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

/** Those that can be asked first. */
function inOrder(methods: readonly MethodView[]): MethodView[] {
  return [...methods].sort((one, other) => Number(other.usable) - Number(one.usable));
}

/** The methods of the address; else the usual one and the next that can be asked. */
function firstMethods(asked: Contest, methods: MethodsView): string[] {
  const usable = methods.methods.filter((method) => method.usable).map((method) => method.name);
  const wanted = usable.filter((name) => asked.methods.includes(name));
  if (wanted.length > 0) return wanted;
  const others = usable.filter((name) => name !== methods.default);
  return usable.filter((name) => [methods.default, others[0]].includes(name));
}
