// A class of a graph: what it is, and its instances in pages.

import { useState } from "preact/hooks";
import { instances, profile, resource } from "../api/graphs.ts";
import { askAddress, propertyAddress } from "../app/router.ts";
import { language } from "../i18n/index.ts";
import { ProblemNote } from "../parts/ProblemNote.tsx";
import { Cell } from "../results/Cell.tsx";
import { Pager } from "../results/Pager.tsx";
import { shortName, visible } from "../results/texts.ts";
import { Ends } from "./Ends.tsx";
import { FactsTable } from "./FactsTable.tsx";
import { IriLine } from "./IriLine.tsx";
import { Path } from "./Path.tsx";
import { useFetched } from "./useFetched.ts";
import { words } from "./words.ts";

const PAGE = 60;

export function ClassPage({ graph, iri }: { graph: string; iri: string }) {
  const say = words();
  const [page, setPage] = useState(0);
  const about = useFetched(`${iri} ${language.value}`, (signal) =>
    resource(graph, { iri, language: language.value }, { signal }),
  );
  const found = useFetched(`${iri} ${page} ${language.value}`, (signal) => {
    const wanted = { class: iri, offset: page * PAGE, limit: PAGE, language: language.value };
    return instances(graph, wanted, { signal });
  });
  const holds = useFetched(`${graph} ${language.value}`, (signal) =>
    profile(graph, { language: language.value }, { signal }),
  );
  const used = (holds.value?.predicates ?? []).flatMap((predicate) => {
    const end = predicate.subject_classes.find((one) => one.iri === iri);
    return end ? [{ ...predicate, count: end.count }] : [];
  });
  const label = visible(about.value?.label ?? shortName(iri));
  const total = found.value?.total ?? 0;
  return (
    <div class="page browse">
      <Path graph={graph} place={label} />
      <div class="row spread">
        <h1>
          <bdi>{label}</bdi> <span class="chip">{say.aClass}</span>
        </h1>
        <a class="button primary" href={askAddress(label, [graph])}>
          {say.askAbout(label)}
        </a>
      </div>
      {about.value?.description && (
        <p class="lead" dir="auto">
          {visible(about.value.description)}
        </p>
      )}
      <IriLine iri={iri} />
      {about.problem && <ProblemNote problem={about.problem} again={about.again} />}
      <section>
        <h2 class="section-title">
          {say.instancesOf(label)}{" "}
          <span class="muted">
            {found.value && (found.value.at_least ? say.atLeast(total) : say.instances(total))}
          </span>
        </h2>
        {found.problem && <ProblemNote problem={found.problem} again={found.again} />}
        {found.value && total === 0 && <p class="muted">{say.noInstances}</p>}
        <ul class="instances" aria-busy={found.busy}>
          {found.value?.instances.map((cell) => (
            <li key={cell.value}>
              <Cell cell={cell} graph={graph} />
            </li>
          ))}
        </ul>
        {total > PAGE && <Pager page={page} pages={Math.ceil(total / PAGE)} onPage={setPage} />}
      </section>
      {used.length > 0 && (
        <section>
          <h2 class="section-title">{say.usedWith}</h2>
          <Ends ends={used} address={(one) => propertyAddress(graph, one)} />
        </section>
      )}
      {about.value && about.value.outgoing.length > 0 && (
        <section>
          <h2 class="section-title">{say.facts}</h2>
          <FactsTable facts={about.value.outgoing} {...{ graph, iri }} pictures={false} />
        </section>
      )}
    </div>
  );
}
