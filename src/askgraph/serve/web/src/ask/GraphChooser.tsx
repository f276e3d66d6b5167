// Which graphs are asked.

import { graphTitle, knownGraphs } from "../app/known.ts";
import { Icon } from "../parts/Icon.tsx";
import { Popover } from "../parts/Popover.tsx";
import { chooseGraphs, chosenGraphs } from "./choices.ts";
import { words } from "./words.ts";

export function GraphChooser() {
  const say = words();
  const all = knownGraphs.value.value ?? [];
  const chosen = chosenGraphs.value;
  if (all.length === 0) return null;
  const label =
    chosen.length === 1 ? graphTitle(chosen[0] ?? "") : say.severalGraphs(chosen.length);
  const toggle = (name: string, on: boolean) => {
    const next = on ? [...chosen, name] : chosen.filter((one) => one !== name);
    if (next.length > 0) chooseGraphs(next);
  };
  return (
    <Popover
      title={say.chooseGraphs}
      label={
        <>
          <Icon name="graph" />
          <bdi class="chooser-label">{label}</bdi>
          <Icon name="down" size={12} />
        </>
      }
    >
      {() => (
        <fieldset class="choices">
          <legend>{say.chooseGraphs}</legend>
          {all.map((graph) => (
            <label key={graph.name} class="choice">
              <input
                type="checkbox"
                checked={chosen.includes(graph.name)}
                disabled={chosen.length === 1 && chosen.includes(graph.name)}
                onChange={(event) => toggle(graph.name, event.currentTarget.checked)}
              />
              <span>
                <bdi class="choice-name">{graph.title || graph.name}</bdi>
                <span class="choice-more">
                  {graph.description && <bdi>{graph.description} </bdi>}
                  {[
                    graph.triples === null ? "" : say.triples(graph.triples),
                    graph.remote ? say.remote : "",
                  ]
                    .filter(Boolean)
                    .join(" · ")}
                </span>
              </span>
            </label>
          ))}
          <div class="choices-foot">
            <a href={`/graphs/${encodeURIComponent(chosen[0] ?? "")}`}>{say.browseGraph}</a>
            <a href="/add">{say.addGraph}</a>
          </div>
        </fieldset>
      )}
    </Popover>
  );
}
