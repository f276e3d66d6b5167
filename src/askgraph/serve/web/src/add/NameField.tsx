// The name that a graph gets, checked while it is typed.

import { useId } from "preact/hooks";
import { knownGraphs } from "../app/known.ts";
import { isName } from "./files.ts";
import { words } from "./words.ts";

interface Props {
  readonly name: string;
  readonly onName: (name: string) => void;
}

export function NameField({ name, onName }: Props) {
  const say = words();
  const id = useId();
  const fault = faultOf(name);
  return (
    <div>
      <label class="label" for={id}>
        {say.name}
      </label>
      <input
        id={id}
        class="field name-field"
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        maxLength={40}
        value={name}
        aria-invalid={fault !== null}
        aria-describedby={`${id}-hint`}
        onInput={(event) => onName(event.currentTarget.value.toLowerCase())}
      />
      <p id={`${id}-hint`} class={fault ? "fault small" : "muted small"}>
        {fault ?? say.nameHint}
      </p>
    </div>
  );
}

/** Whether a graph can be added under a name. */
export function isFree(name: string): boolean {
  return name !== "" && faultOf(name) === null;
}

function faultOf(name: string): string | null {
  if (name === "") return null;
  if (!isName(name)) return words().nameWrong;
  const isTaken = knownGraphs.value.value?.some((graph) => graph.name === name);
  return isTaken ? words().nameTaken : null;
}
