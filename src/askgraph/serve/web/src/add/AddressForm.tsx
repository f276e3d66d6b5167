// The address of a SPARQL endpoint to add.

import { useId, useState } from "preact/hooks";
import { addAddress } from "../api/jobs.ts";
import { linkOf } from "../results/values.ts";
import { add, draft } from "./adding.ts";
import { suggestedName } from "./files.ts";
import { isFree, NameField } from "./NameField.tsx";
import { words } from "./words.ts";

export function AddressForm() {
  const say = words();
  const address = draft.address.value;
  const name = draft.name.value;
  const [named, setNamed] = useState(name !== "");
  const id = useId();
  const link = linkOf(address.trim());
  const fault = address.trim() !== "" && link === null;
  const ready = link !== null && isFree(name);
  return (
    <form
      class="add-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (ready) void add(name, (_, signal) => addAddress({ name, url: link }, { signal }));
      }}
    >
      <div>
        <label class="label" for={id}>
          {say.address}
        </label>
        <input
          id={id}
          class="field"
          type="url"
          inputMode="url"
          autocomplete="off"
          placeholder="https://example.org/sparql"
          value={address}
          aria-invalid={fault}
          aria-describedby={`${id}-hint`}
          onInput={(event) => {
            const typed = event.currentTarget.value;
            draft.address.value = typed;
            if (!named) draft.name.value = suggestedName(typed.trim());
          }}
        />
        <p id={`${id}-hint`} class={fault ? "fault small" : "muted small"}>
          {fault ? say.addressWrong : say.addressHint}
        </p>
      </div>
      <NameField
        name={name}
        onName={(typed) => {
          draft.name.value = typed;
          setNamed(true);
        }}
      />
      <div>
        <button type="submit" class="button primary" disabled={!ready}>
          {say.addAddress}
        </button>
      </div>
    </form>
  );
}
