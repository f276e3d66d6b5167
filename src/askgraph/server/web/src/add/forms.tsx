// The files of a new graph: dropped or chosen, and checked before they are sent.

import { useRef, useState } from "preact/hooks";
import { knownGraphs } from "../app/known.ts";
import { locale } from "../i18n/index.ts";
import { Button, Field, Form, joinWithDots } from "../parts/parts.tsx";
import { linkOf } from "../results/values.ts";
import { addDraft, draft, mostBytes } from "./adding.ts";
import { ENDINGS, formatSize, isName, judgeFiles, suggestName } from "./files.ts";
import { say } from "./words.ts";

export function FilesForm() {
  const files = draft.files.value;
  const name = draft.name.value;
  const most = mostBytes();
  const found = judgeFiles(files, most);
  const ready = files.length > 0 && found.every(({ fault }) => fault === null) && isFree(name);
  const take = (more: readonly File[]) => {
    draft.files.value = [...files, ...more];
    if (name === "" && more[0]) draft.name.value = suggestName(more[0].name);
  };
  return (
    <Form class="add-form stack" onSend={() => ready && void addDraft("files")}>
      <DropZone onFiles={take} most={formatSize(most, locale.value)} />
      {found.length > 0 && (
        <ul class="files stack close">
          {found.map(({ file, format, fault }, at) => (
            <li key={`${at} ${file.name}`} class={fault ? "file sheet wrong" : "file sheet"}>
              <bdi class="file-name broken">{file.name}</bdi>
              <span class="muted small number">
                {joinWithDots(format, formatSize(file.size, locale.value))}
              </span>
              <Button
                look="quiet icon small"
                icon="cross"
                label={say.takeOut(file.name)}
                onClick={() => {
                  draft.files.value = files.filter((_, other) => other !== at);
                }}
              />
              {fault && (
                <p class="fault small" role="alert">
                  {say[fault]}
                </p>
              )}
            </li>
          ))}
        </ul>
      )}
      <NameField />
      <Button look="primary" type="submit" disabled={!ready} text={say.addFiles} />
    </Form>
  );
}

interface ZoneProps {
  readonly onFiles: (files: readonly File[]) => void;
  readonly most: string;
}

function DropZone({ onFiles, most }: ZoneProps) {
  const [over, setOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the button in it does the same by keys
    <div
      class={over ? "drop stack close over" : "drop stack close"}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        onFiles([...(event.dataTransfer?.files ?? [])]);
      }}
    >
      <p class="large note-title">{say.drop}</p>
      <p class="muted small">{say.or}</p>
      <Button look="" onClick={() => input.current?.click()} text={say.choose} />
      <input
        ref={input}
        type="file"
        class="seen-by-readers"
        tabIndex={-1}
        multiple
        accept={ENDINGS.join(",")}
        aria-label={say.choose}
        onChange={(event) => {
          onFiles([...(event.currentTarget.files ?? [])]);
          event.currentTarget.value = "";
        }}
      />
      <p class="muted small">{say.accepted(most)}</p>
    </div>
  );
}

// The address of a SPARQL endpoint to add.

export function AddressForm() {
  const address = draft.address.value;
  const name = draft.name.value;
  const [named, setNamed] = useState(name !== "");
  const link = linkOf(address.trim());
  const ready = link !== null && isFree(name);
  return (
    <Form class="add-form stack" onSend={() => ready && void addDraft("address")}>
      <Field
        label={say.address}
        value={address}
        onText={(typed) => {
          draft.address.value = typed;
          if (!named) draft.name.value = suggestName(typed.trim());
        }}
        fault={address.trim() !== "" && link === null ? say.addressWrong : null}
        hint={say.addressHint}
        input={{ type: "url", autocomplete: "off", placeholder: "https://example.org/sparql" }}
      />
      <NameField onName={() => setNamed(true)} />
      <Button look="primary" type="submit" disabled={!ready} text={say.addAddress} />
    </Form>
  );
}

// The name that a graph gets, checked while it is typed.

function NameField({ onName }: { onName?: () => void }) {
  const name = draft.name.value;
  return (
    <Field
      label={say.name}
      value={name}
      onText={(typed) => {
        draft.name.value = typed.toLowerCase();
        onName?.();
      }}
      fault={faultOf(name)}
      hint={say.nameHint}
      input={{ class: "narrow", autocomplete: "off", autocapitalize: "none", maxLength: 40 }}
    />
  );
}

/** Whether a graph can be added under a name. */
function isFree(name: string): boolean {
  return name !== "" && faultOf(name) === null;
}

function faultOf(name: string): string | null {
  if (name === "") return null;
  if (!isName(name)) return say.nameWrong;
  return knownGraphs.value.value?.some((graph) => graph.name === name) ? say.nameTaken : null;
}
