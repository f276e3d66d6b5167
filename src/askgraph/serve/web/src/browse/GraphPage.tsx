// One graph: what it is about, what to ask it, its classes and predicates.

import { graphOf, profile } from "../api/browse.ts";
import { starters } from "../api/graphs.ts";
import type { GraphSummary } from "../api/types.ts";
import { askAddress } from "../app/router.ts";
import { formatTime, language } from "../i18n/index.ts";
import { ProblemNote } from "../parts/ProblemNote.tsx";
import { classAddress, propertyAddress } from "../results/links.ts";
import { Counts } from "./GraphList.tsx";
import { ofClass, ofPredicate } from "./listing.ts";
import { Path } from "./Path.tsx";
import { SearchBox } from "./SearchBox.tsx";
import { TermList } from "./TermList.tsx";
import { useFetched } from "./useFetched.ts";
import { VerifiedList } from "./VerifiedList.tsx";
import { words } from "./words.ts";

export function GraphPage({ graph }: { graph: string }) {
  const say = words();
  const about = useFetched(graph, (signal) => graphOf(graph, { signal }));
  const tongue = language.value;
  const holds = useFetched(`${graph} ${tongue}`, (signal) =>
    profile(graph, { language: tongue }, { signal }),
  );
  const find = async (search: string, signal: AbortSignal) =>
    await profile(graph, { language: tongue, search }, { signal });
  const known = about.value;
  return (
    <div class="page browse">
      <Path graph={graph} />
      <div class="row spread">
        <h1>
          <bdi>{known?.title || graph}</bdi>
        </h1>
        <a class="button primary" href={askAddress("", [graph])}>
          {say.askIt}
        </a>
      </div>
      {about.problem && <ProblemNote problem={about.problem} again={about.again} />}
      {known?.description && (
        <p class="lead" dir="auto">
          {known.description}
        </p>
      )}
      {known && <Counts graph={known} />}
      {known && <About graph={known} created={holds.value?.created ?? ""} />}
      {known && (
        <>
          <SearchBox graph={graph} />
          <Starters graph={graph} />
          <VerifiedList graph={graph} />
        </>
      )}
      {holds.problem && !about.problem && (
        <ProblemNote problem={holds.problem} again={holds.again} />
      )}
      {holds.busy && !holds.value && <p class="muted">{say.loading}</p>}
      {holds.value && (
        <div class="term-lists">
          <TermList
            title={say.classesTitle}
            filterLabel={say.filterClasses}
            terms={holds.value.classes.map(ofClass)}
            total={holds.value.total_classes}
            find={async (text, signal) => (await find(text, signal)).classes.map(ofClass)}
            graph={graph}
            address={(iri) => classAddress(graph, iri)}
          />
          <TermList
            title={say.predicatesTitle}
            filterLabel={say.filterPredicates}
            terms={holds.value.predicates.map(ofPredicate)}
            total={holds.value.total_predicates}
            find={async (text, signal) => (await find(text, signal)).predicates.map(ofPredicate)}
            graph={graph}
            address={(iri) => propertyAddress(graph, iri)}
          />
        </div>
      )}
    </div>
  );
}

function About({ graph, created }: { graph: GraphSummary; created: string }) {
  const say = words();
  const facts = [
    [say.source, graph.source],
    [say.license, graph.license],
    [say.lastBuilt, created && formatTime(created)],
  ].filter(([, value]) => value);
  return (
    <dl class="about-graph">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <bdi>{value}</bdi>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Starters({ graph }: { graph: string }) {
  const say = words();
  const found = useFetched(`${graph} ${language.value}`, (signal) =>
    starters(graph, language.value, { signal }),
  );
  const questions = found.value?.questions ?? [];
  if (questions.length === 0) return null;
  return (
    <section>
      <h2 class="section-title">{say.startWith}</h2>
      <ul class="starter-links">
        {questions.map((question) => (
          <li key={question}>
            <a href={askAddress(question, [graph])}>
              <bdi>{question}</bdi>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}
