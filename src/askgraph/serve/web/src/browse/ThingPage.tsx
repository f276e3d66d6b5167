// A thing of a graph: its name and kind, what is said of it and what points at it.

import { useMemo, useState } from "preact/hooks";
import { resource } from "../api/graphs.ts";
import { knownServer } from "../app/known.ts";
import { Later } from "../app/Later.tsx";
import { askAddress, classAddress } from "../app/router.ts";
import { language, locale } from "../i18n/index.ts";
import { ProblemNote } from "../parts/ProblemNote.tsx";
import { drawingAround, joined } from "../results/evidence.ts";
import { shortName, textOf, visible } from "../results/texts.ts";
import { pictureOf } from "../results/values.ts";
import { FactsTable } from "./FactsTable.tsx";
import { IriLine } from "./IriLine.tsx";
import { Path } from "./Path.tsx";
import { useFetched } from "./useFetched.ts";
import { words } from "./words.ts";

const graphDrawing = () => import("../results/GraphView.tsx").then((found) => found.GraphView);

export function ThingPage({ graph, iri }: { graph: string; iri: string }) {
  const say = words();
  const [drawn, setDrawn] = useState(false);
  const { value, problem, busy, again } = useFetched(`${iri} ${language.value}`, (signal) =>
    resource(graph, { iri, language: language.value }, { signal }),
  );
  const label = visible(value?.label ?? shortName(iri));
  const pictures = knownServer.value.value?.["images"] === true;
  const picture = value?.outgoing.flatMap(({ values }) => values).find((cell) => pictureOf(cell));
  const drawing = useMemo(
    () => (value ? drawingAround(value, locale.value) : joined([])),
    [value, locale.value],
  );
  const isKnown = value !== null && value.outgoing.length + value.incoming.length > 0;
  return (
    <div class="page browse">
      <Path graph={graph} place={label} />
      <div class="row spread">
        <h1>
          <bdi>{label}</bdi>
        </h1>
        <a class="button primary" href={askAddress(label, [graph])}>
          {say.askAbout(label)}
        </a>
      </div>
      {value && value.types.length > 0 && (
        <ul class="row">
          {value.types.map((type) => (
            <li key={type.value}>
              <a class="chip" href={classAddress(graph, type.value)}>
                <bdi>{textOf(type, locale.value)}</bdi>
              </a>
            </li>
          ))}
        </ul>
      )}
      {value?.description && (
        <p class="lead" dir="auto">
          {visible(value.description)}
        </p>
      )}
      <IriLine iri={iri} />
      {problem && <ProblemNote problem={problem} again={again} />}
      {busy && !value && <p class="muted">{say.loading}</p>}
      {value && !isKnown && <p class="note">{say.noFacts}</p>}
      {pictures && picture && (
        <img
          class="thing-picture"
          src={picture.value}
          alt={say.picture(label)}
          referrerpolicy="no-referrer"
        />
      )}
      {value && value.outgoing.length > 0 && (
        <section>
          <h2 class="section-title">{say.facts}</h2>
          <FactsTable facts={value.outgoing} {...{ graph, iri, pictures }} />
        </section>
      )}
      {value && value.incoming.length > 0 && (
        <section>
          <h2 class="section-title">{say.pointing}</h2>
          <FactsTable facts={value.incoming} inverse {...{ graph, iri, pictures }} />
        </section>
      )}
      {value && isKnown && (
        <details onToggle={(event) => setDrawn(event.currentTarget.open)}>
          <summary class="section-title">{say.drawing}</summary>
          {drawn && <Later load={graphDrawing} props={{ drawing, graph }} />}
        </details>
      )}
    </div>
  );
}
