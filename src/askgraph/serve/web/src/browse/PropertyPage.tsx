// A predicate of a graph: what it says, of which things, and what stands at its other end.

import { profile, resource } from "../api/graphs.ts";
import { askAddress, classAddress } from "../app/router.ts";
import { formatNumber, language } from "../i18n/index.ts";
import { ProblemNote } from "../parts/ProblemNote.tsx";
import { shortName, visible } from "../results/texts.ts";
import { Ends } from "./Ends.tsx";
import { FactsTable } from "./FactsTable.tsx";
import { IriLine } from "./IriLine.tsx";
import { Path } from "./Path.tsx";
import { useFetched } from "./useFetched.ts";
import { words } from "./words.ts";

export function PropertyPage({ graph, iri }: { graph: string; iri: string }) {
  const say = words();
  const about = useFetched(`${iri} ${language.value}`, (signal) =>
    resource(graph, { iri, language: language.value }, { signal }),
  );
  const holds = useFetched(`${iri} ${language.value}`, (signal) =>
    profile(graph, { language: language.value, search: iri }, { signal }),
  );
  const used = holds.value?.predicates.find((predicate) => predicate.iri === iri) ?? null;
  const label = visible(used?.label ?? about.value?.label ?? shortName(iri));
  const problem = about.problem ?? holds.problem;
  const counts = used && [
    [say.uses, used.triples],
    [say.subjects, used.subjects],
    [say.objects, used.objects],
  ];
  const classOf = (one: string) => classAddress(graph, one);
  return (
    <div class="page browse">
      <Path graph={graph} place={label} />
      <div class="row spread">
        <h1>
          <bdi>{label}</bdi> <span class="chip">{say.aProperty}</span>
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
      {problem && <ProblemNote problem={problem} again={about.again} />}
      {about.busy && !about.value && <p class="muted">{say.loading}</p>}
      {counts && (
        <dl class="about-graph">
          {counts.map(([name, count]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd class="number">{formatNumber(Number(count))}</dd>
            </div>
          ))}
        </dl>
      )}
      {used && used.subject_classes.length > 0 && (
        <section>
          <h2 class="section-title">{say.usedOn}</h2>
          <Ends ends={used.subject_classes} address={classOf} />
        </section>
      )}
      {used && used.object_classes.length > 0 && (
        <section>
          <h2 class="section-title">{say.pointsAt}</h2>
          <Ends ends={used.object_classes} address={classOf} />
        </section>
      )}
      {used && used.datatypes.length > 0 && (
        <section>
          <h2 class="section-title">{say.datatypes}</h2>
          <Ends ends={used.datatypes} />
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
