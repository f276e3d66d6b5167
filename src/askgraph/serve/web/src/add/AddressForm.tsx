// The address of a SPARQL endpoint to add.

import { useId, useState } from "preact/hooks";
import { addAddress } from "../api/jobs.ts";
import { linkOf } from "../results/values.ts";
import { add } from "./adding.ts";
import { suggestedName } from "./files.ts";
import { isFree, NameField } from "./NameField.tsx";
import { words } from "./words.ts";

export function AddressForm() {
  const say = words();
  const [address, setAddress] = useState("");
  const [name, setName] = useState("");
  const [named, setNamed] = useState(false);
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
            setAddress(event.currentTarget.value);
            if (!named) setName(suggestedName(event.currentTarget.value.trim()));
          }}
        />
        <p id={`${id}-hint`} class={fault ? "fault small" : "muted small"}>
          {fault ? say.addressWrong : say.addressHint}
        </p>
      </div>
      <NameField
        name={name}
        onName={(typed) => {
          setName(typed);
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
