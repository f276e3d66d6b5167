// What is to be compared: the question, the graphs, the methods.

import { useEffect, useState } from "preact/hooks";
import type { MethodInfo, Methods } from "../api/types.ts";
import { GraphChooser } from "../ask/Choosers.tsx";
import { chooseGraphs, chooseModel, chosenGraphs } from "../ask/choices.ts";
import { methodTitle, methodWords } from "../parts/methods.ts";
import { Button } from "../parts/parts.tsx";
import type { Contest } from "./contest.ts";
import { say } from "./words.ts";

interface Props {
  /** What the address asks for. */
  readonly asked: Contest;
  readonly methods: Methods;
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
    <form
      class="card compare-form"
      onSubmit={(event) => {
        event.preventDefault();
        const contest = { question: question.trim(), graphs: chosenGraphs.value, methods: chosen };
        if (ready) onAsk({ ...contest, model: needsModel ? model : null });
      }}
    >
      <label>
        <span class="label">{say.question}</span>
        <input
          class="field"
          type="text"
          dir="auto"
          autocomplete="off"
          maxLength={4000}
          placeholder={say.placeholder}
          value={question}
          onInput={(event) => setQuestion(event.currentTarget.value)}
        />
      </label>
      <fieldset>
        <legend class="label">{say.methods}</legend>
        <div class="method-choices">
          {inOrder(methods.methods).map((method) => (
            <MethodChoice
              key={method.name}
              method={method}
              isChosen={chosen.includes(method.name)}
              onChange={(on) => toggle(method.name, on)}
            />
          ))}
        </div>
      </fieldset>
      <div class="row">
        <GraphChooser />
        {needsModel && methods.models.length > 0 && (
          <label class="row small">
            {say.model}
            <select
              class="field"
              value={model ?? ""}
              onChange={(event) => {
                setModel(event.currentTarget.value);
                chooseModel(event.currentTarget.value);
              }}
            >
              {methods.models.map(({ name }) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </select>
          </label>
        )}
        {chosen.length < 2 && <span class="muted small">{say.fewer}</span>}
        <Button look="primary compare-button" type="submit" disabled={!ready}>
          {say.compare}
        </Button>
      </div>
    </form>
  );
}

interface ChoiceProps {
  readonly method: MethodInfo;
  readonly isChosen: boolean;
  readonly onChange: (on: boolean) => void;
}

function MethodChoice({ method, isChosen, onChange }: ChoiceProps) {
  const reason = method.missing && method.needs_model ? say.noModel : method.missing;
  return (
    <label
      class={method.usable ? "method-choice" : "method-choice off"}
      title={method.missing ?? undefined}
    >
      <input
        type="checkbox"
        checked={isChosen}
        disabled={!method.usable}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <span>
        <span class="method-name">{methodTitle(method.name)}</span>
        <span class="muted small">{reason ?? methodWords(method)}</span>
      </span>
    </label>
  );
}

/** Those that can be asked first. */
function inOrder(methods: readonly MethodInfo[]): MethodInfo[] {
  return [...methods].sort((one, other) => Number(other.usable) - Number(one.usable));
}

/** The methods of the address; else the usual one and the next that can be asked. */
function firstMethods(asked: Contest, methods: Methods): string[] {
  const usable = methods.methods.filter((method) => method.usable).map((method) => method.name);
  const wanted = usable.filter((name) => asked.methods.includes(name));
  if (wanted.length > 0) return wanted;
  const others = usable.filter((name) => name !== methods.default);
  return usable.filter((name) => [methods.default, others[0]].includes(name));
}
