// Adds a graph, from files or from an address.

import { useEffect, useId, useState } from "preact/hooks";
import { knownGraphs, knownMe, knownServer, may } from "../app/known.ts";
import { TabList } from "../results/TabList.tsx";
import { AddProgress } from "./AddProgress.tsx";
import { AddressForm } from "./AddressForm.tsx";
import { adding } from "./adding.ts";
import { FilesForm } from "./FilesForm.tsx";
import { words } from "./words.ts";

type Way = "files" | "address";

export function AddPage() {
  const say = words();
  const [way, setWay] = useState<Way>("files");
  const id = useId();
  useEffect(() => {
    knownGraphs.need();
    knownMe.need();
    knownServer.need();
  }, []);
  const state = adding.value?.state;
  const isOver = state === undefined || state === "failed" || state === "cancelled";
  return (
    <div class="page add">
      <h1>{say.title}</h1>
      <p class="muted">{say.lead}</p>
      {!may("manage") && <p class="note warn">{say.notAllowed}</p>}
      {adding.value && <AddProgress now={adding.value} />}
      {may("manage") && isOver && (
        <>
          <TabList
            id={id}
            label={say.ways}
            tabs={[
              { name: "files", title: say.fromFiles },
              { name: "address", title: say.fromAddress },
            ]}
            chosen={way}
            onChoose={setWay}
          />
          <div id={`${id}-panel`} role="tabpanel" aria-labelledby={`${id}-${way}`}>
            {way === "files" ? <FilesForm /> : <AddressForm />}
          </div>
        </>
      )}
    </div>
  );
}
