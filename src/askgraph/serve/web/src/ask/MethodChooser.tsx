// How an answer is found: the method and, where it needs one, the model, with what they cost.

import type { MethodInfo, ModelInfo } from "../api/types.ts";
import { knownMethods } from "../app/known.ts";
import { formatSeconds } from "../i18n/index.ts";
import { Icon } from "../parts/Icon.tsx";
import { Popover } from "../parts/Popover.tsx";
import { chooseMethod, chooseModel, chosenMethod, chosenModel } from "./choices.ts";
import { methodTitle } from "./methodTitle.ts";
import { words } from "./words.ts";

export function MethodChooser() {
  const say = words();
  const known = knownMethods.value.value;
  const chosen = chosenMethod.value;
  if (!known || !chosen) return null;
  return (
    <Popover
      title={say.chooseMethod}
      label={
        <>
          <Icon name="sliders" />
          <span class="chooser-label">
            {methodTitle(chosen.name)}
            {chosenModel.value && <bdi class="muted"> · {chosenModel.value}</bdi>}
          </span>
          <Icon name="down" size={12} />
        </>
      }
    >
      {() => (
        <fieldset class="choices">
          <legend>{say.chooseMethod}</legend>
          {known.methods.map((method) => (
            <label key={method.name} class="choice">
              <input
                type="radio"
                name="method"
                checked={method.name === chosen.name}
                disabled={!method.usable}
                onChange={() => chooseMethod(method.name)}
              />
              <span>
                <span class="choice-name">
                  {methodTitle(method.name)}
                  {method.name === known.default && <span class="chip">{say.usual}</span>}
                </span>
                <span class="choice-more">{method.words}</span>
                <span class="choice-cost">{method.missing ?? costWords(method)}</span>
              </span>
            </label>
          ))}
          {chosen.needs_model && <ModelChoice models={known.models} />}
        </fieldset>
      )}
    </Popover>
  );
}

/** What a question costs, as far as it was seen on this server. */
function costWords(method: MethodInfo): string {
  const say = words();
  return [
    method.needs_model ? say.needsModel : say.withoutModel,
    method.seconds === null ? "" : say.onAverage(formatSeconds(method.seconds)),
    method.tokens ? say.tokens(Math.round(method.tokens)) : "",
    method.money ? method.money.toFixed(4) : "",
  ]
    .filter(Boolean)
    .join(" · ");
}

function ModelChoice({ models }: { models: readonly ModelInfo[] }) {
  const say = words();
  if (models.length === 0) return <p class="note warn small">{say.noModel}</p>;
  return (
    <label class="model-choice">
      <span class="label">{say.model}</span>
      <select
        class="field"
        value={chosenModel.value ?? ""}
        onChange={(event) => chooseModel(event.currentTarget.value)}
      >
        {models.map(({ name, model }) => (
          <option key={name} value={name}>
            {name === model || !model ? name : `${name} (${model})`}
          </option>
        ))}
      </select>
    </label>
  );
}
