// Files to make a graph of: dropped or chosen, checked before anything is sent.

import { useRef, useState } from "preact/hooks";
import { upload } from "../api/jobs.ts";
import { knownServer } from "../app/known.ts";
import { locale } from "../i18n/index.ts";
import { Icon } from "../parts/Icon.tsx";
import { add, draft } from "./adding.ts";
import { ENDINGS, judged, sizeText, suggestedName } from "./files.ts";
import { isFree, NameField } from "./NameField.tsx";
import { words } from "./words.ts";

const MEGABYTE = 1_000_000;

export function FilesForm() {
  const say = words();
  const files = draft.files.value;
  const name = draft.name.value;
  const most = (knownServer.value.value?.upload_mb ?? 200) * MEGABYTE;
  const found = judged(files, most);
  const ready = files.length > 0 && found.every(({ fault }) => fault === null) && isFree(name);
  const take = (more: readonly File[]) => {
    draft.files.value = [...files, ...more];
    if (name === "" && more[0]) draft.name.value = suggestedName(more[0].name);
  };
  return (
    <form
      class="add-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (ready) void add(name, (sent, signal) => upload(name, files, { sent, signal }));
      }}
    >
      <DropZone onFiles={take} most={sizeText(most, locale.value)} />
      {found.length > 0 && (
        <ul class="files">
          {found.map(({ file, format, fault }, at) => (
            <li key={`${at} ${file.name}`} class={fault ? "file wrong" : "file"}>
              <bdi class="file-name">{file.name}</bdi>
              <span class="muted small number">
                {[format, sizeText(file.size, locale.value)].filter(Boolean).join(" · ")}
              </span>
              <button
                type="button"
                class="button quiet icon small"
                aria-label={say.takeOut(file.name)}
                title={say.takeOut(file.name)}
                onClick={() => {
                  draft.files.value = files.filter((_, other) => other !== at);
                }}
              >
                <Icon name="cross" size={14} />
              </button>
              {fault && (
                <p class="fault small" role="alert">
                  {say[fault]}
                </p>
              )}
            </li>
          ))}
        </ul>
      )}
      <NameField
        name={name}
        onName={(typed) => {
          draft.name.value = typed;
        }}
      />
      <div>
        <button type="submit" class="button primary" disabled={!ready}>
          {say.addFiles}
        </button>
      </div>
    </form>
  );
}

interface ZoneProps {
  readonly onFiles: (files: readonly File[]) => void;
  /** How much may be sent, in words. */
  readonly most: string;
}

function DropZone({ onFiles, most }: ZoneProps) {
  const say = words();
  const [over, setOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the button in it does the same by keys
    <div
      class={over ? "drop over" : "drop"}
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
      <p class="drop-title">{say.drop}</p>
      <p class="muted small">{say.or}</p>
      <button type="button" class="button" onClick={() => input.current?.click()}>
        {say.choose}
      </button>
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
