// The choice of the method and, if it needs one, of the model, with their costs.

import { useEffect, useState } from "preact/hooks";
import type { MethodView } from "../api/types.ts";
import { graphTitle, knownGraphs, knownMethods } from "../app/known.ts";
import { graphAddress } from "../app/router.ts";
import { formatSeconds, language } from "../i18n/index.ts";
import { methodTitle, methodWords, missingWords } from "../parts/methods.ts";
import { Popover } from "../parts/Popover.tsx";
import { Choice, joinWithDots, QuietButton, Select } from "../parts/parts.tsx";
import {
  chooseGraphs,
  chooseMethod,
  chooseModel,
  chosenGraphs,
  chosenMethod,
  chosenModel,
} from "./choices.ts";
import { say } from "./words.ts";

export function MethodChooser() {
  const known = knownMethods.value.value;
  const chosen = chosenMethod.value;
  const hasGraphs = (knownGraphs.value.value?.length ?? 0) > 0;
  useEffect(() => (hasGraphs ? knownMethods.need() : undefined), [hasGraphs]);
  if (!known || !chosen) return null;
  const [usable, others] = [true, false].map((can) =>
    known.methods.filter((method) => method.usable === can),
  ) as [MethodView[], MethodView[]];
  const usualFirst = (one: MethodView, other: MethodView) =>
    Number(other.name === known.default) - Number(one.name === known.default);
  return (
    <Popover
      title={say.chooseMethod}
      icon="sliders"
      arrow
      label={
        <span class="chooser-label clip">
          {methodTitle(chosen.name)}
          {chosenModel.value && <bdi class="muted"> · {chosenModel.value}</bdi>}
        </span>
      }
    >
      {() => (
        <fieldset class="choices">
          <legend>{say.chooseMethod}</legend>
          {usable.toSorted(usualFirst).map((method) => (
            <Choice
              key={method.name}
              group="method"
              name={
                <>
                  {methodTitle(method.name)}
                  {method.name === known.default && <span class="chip">{say.usual}</span>}
                </>
              }
              more={methodWords(method)}
              checked={method.name === chosen.name}
              onChange={() => chooseMethod(method.name)}
            >
              <span class="choice-more muted small">{costWords(method)}</span>
            </Choice>
          ))}
          {chosen.needs_model && known.models.length > 0 && (
            <Select
              class="model-choice"
              label={say.model}
              value={chosenModel.value ?? ""}
              options={known.models.map(({ name, model }) => [
                name,
                name === model || !model ? name : `${name} (${model})`,
              ])}
              onChoose={chooseModel}
            />
          )}
          {others.length > 0 && <NotSetUp methods={others} />}
        </fieldset>
      )}
    </Popover>
  );
}

function NotSetUp({ methods }: { methods: readonly MethodView[] }) {
  const isEnglish = language.value === "en"; // the server's more detailed text is English
  const reasonOf = (method: MethodView) => (isEnglish ? method.missing : missingWords(method));
  const reasons = [...new Set(methods.map((method) => reasonOf(method) ?? ""))].filter(Boolean);
  return (
    <details class="small">
      <summary class="muted">{say.notSetUp(methods.length)}</summary>
      <ul class="stack close">
        {methods.map((method) => (
          <li key={method.name}>
            <span class="choice-name">{methodTitle(method.name)}</span>
            <span class="choice-more muted small">{methodWords(method)}</span>
          </li>
        ))}
      </ul>
      {reasons.map((reason) => (
        <p key={reason} class="note small">
          {reason}
        </p>
      ))}
    </details>
  );
}

/** Describes the average cost of a question on this server, if known. */
function costWords(method: MethodView): string {
  return joinWithDots(
    method.needs_model ? say.needsModel : say.withoutModel,
    typeof method.seconds === "number" && say.onAverage(formatSeconds(method.seconds)),
    method.tokens ? say.tokens(Math.round(method.tokens)) : "",
    method.money?.toFixed(4),
  );
}

// The choice of the graphs that are asked: one by a press, or several.

/** With more graphs than this, there are no separate buttons. */
const AT_HAND = 4;

export function GraphChooser() {
  const [wantsSeveral, setWantsSeveral] = useState(false);
  const all = knownGraphs.value.value ?? [];
  const chosen = chosenGraphs.value;
  if (all.length === 0) return null;
  const isSeveral = wantsSeveral || chosen.length > 1;
  const isAtHand = all.length > 1 && all.length <= AT_HAND;
  const label =
    chosen.length === 1 ? graphTitle(chosen[0] ?? "") : say.severalGraphs(chosen.length);
  const toggle = (name: string, on: boolean) => {
    const next = on ? [...chosen, name] : chosen.filter((one) => one !== name);
    if (next.length > 0) chooseGraphs(next);
  };
  const menu = (
    <Popover
      title={say.chooseGraphs}
      icon="graph"
      arrow
      label={
        <bdi class={isAtHand ? "chooser-label clip narrow-only" : "chooser-label clip"}>
          {label}
        </bdi>
      }
    >
      {() => (
        <fieldset class="choices">
          <legend>{say.chooseGraphs}</legend>
          {all.map((graph) => (
            <Choice
              key={`${graph.name} ${isSeveral}`}
              {...(!isSeveral && { group: "graph" })}
              name={<bdi>{graph.title || graph.name}</bdi>}
              more={
                <>
                  {graph.description && <bdi>{graph.description} </bdi>}
                  {joinWithDots(
                    graph.triples !== null && say.triples(graph.triples),
                    graph.remote && say.remote,
                  )}
                </>
              }
              checked={chosen.includes(graph.name)}
              disabled={isSeveral && chosen.length === 1 && chosen.includes(graph.name)}
              onChange={(on) => (isSeveral ? toggle(graph.name, on) : chooseGraphs([graph.name]))}
            />
          ))}
          {all.length > 1 && (
            <Choice
              name={say.severalAtOnce}
              checked={isSeveral}
              onChange={(on) => {
                setWantsSeveral(on);
                if (!on) chooseGraphs(chosen.slice(0, 1));
              }}
            />
          )}
          <div class="row loose small">
            <a href={graphAddress(chosen[0] ?? "")}>{say.browseGraph}</a>
            <a href="/add">{say.addGraph}</a>
          </div>
        </fieldset>
      )}
    </Popover>
  );
  return (
    <>
      {isAtHand && (
        <span class="at-hand wide-only" role="group" aria-label={say.chooseGraphs}>
          {all.map(({ name }) => (
            <QuietButton
              key={name}
              aria-pressed={chosen.includes(name)}
              onClick={() => chooseGraphs([name])}
            >
              <bdi class="chooser-label clip">{graphTitle(name)}</bdi>
            </QuietButton>
          ))}
        </span>
      )}
      {menu}
    </>
  );
}
