// Asks for an API key where the server wants one.

import { useState } from "preact/hooks";
import { keyWanted } from "../api/key.ts";
import { Dialog } from "../parts/Dialog.tsx";
import { words } from "./words.ts";

export function KeyDialog() {
  const [key, setKey] = useState("");
  const wanted = keyWanted.value;
  if (!wanted) return null;
  const say = words();
  const settle = (given: string | null) => {
    setKey("");
    wanted.settle(given);
  };
  return (
    <Dialog title={say.keyTitle} close={() => settle(null)}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (key.trim()) settle(key.trim());
        }}
      >
        <p class="muted">{wanted.refused ? say.keyRefused : say.keyMore}</p>
        <label>
          <span class="label">{say.keyLabel}</span>
          <input
            class="field"
            type="password"
            autocomplete="off"
            spellcheck={false}
            value={key}
            onInput={(event) => setKey(event.currentTarget.value)}
          />
        </label>
        <div class="row">
          <button type="submit" class="button primary" disabled={!key.trim()}>
            {say.keyUse}
          </button>
          <button type="button" class="button quiet" onClick={() => settle(null)}>
            {say.cancel}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
