// Finds things, classes and properties of a graph by name, while it is typed.

import { useEffect, useState } from "preact/hooks";
import { type Hit, search } from "../api/browse.ts";
import { language } from "../i18n/index.ts";
import { ProblemNote } from "../parts/ProblemNote.tsx";
import { classAddress, propertyAddress, thingAddress } from "../results/links.ts";
import { ranked } from "./listing.ts";
import { useFetched } from "./useFetched.ts";
import { words } from "./words.ts";

const MOST = 20;
const PAUSE = 150;
const KINDS = ["entity", "class", "property"];
const ADDRESSES = { entity: thingAddress, class: classAddress, property: propertyAddress };

export function SearchBox({ graph }: { graph: string }) {
  const say = words();
  const [text, setText] = useState("");
  const [wanted, setWanted] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setWanted(text.trim()), PAUSE);
    return () => clearTimeout(timer);
  }, [text]);
  const found = useFetched(`${graph} ${language.value} ${wanted}`, async (signal) => {
    if (wanted === "") return null;
    const asked = { q: wanted, limit: MOST, language: language.value };
    return ranked((await search(graph, asked, { signal })).hits);
  });
  return (
    <search class="search-box">
      <label>
        <span class="seen-by-readers">{say.search}</span>
        <input
          class="field"
          type="search"
          dir="auto"
          autocomplete="off"
          placeholder={`${say.search}: ${say.searchHint}`}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      {found.problem && <ProblemNote problem={found.problem} />}
      <div role="status">
        {wanted !== "" && found.value?.length === 0 && !found.busy && (
          <p class="muted small">{say.nothingFound}</p>
        )}
      </div>
      {wanted !== "" && found.value && found.value.length > 0 && (
        <ul class="hits" aria-label={say.searchResults}>
          {found.value.map((hit) => (
            <li key={`${hit.kind} ${hit.iri}`}>
              <HitLink hit={hit} graph={graph} />
            </li>
          ))}
        </ul>
      )}
    </search>
  );
}

function HitLink({ hit, graph }: { hit: Hit; graph: string }) {
  const address = ADDRESSES[hit.kind];
  return (
    <a class="hit" href={address(graph, hit.iri)}>
      <bdi class="hit-name">{hit.label}</bdi>
      <span class="chip">{words().kinds[KINDS.indexOf(hit.kind)] ?? hit.kind}</span>
      {hit.description && <bdi class="muted small hit-more">{hit.description}</bdi>}
    </a>
  );
}
