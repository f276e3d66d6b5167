// The list of keyboard shortcuts.

import { Dialog } from "../parts/Dialog.tsx";
import { shortcutsShown, singleKeys, turnSingleKeys } from "./shortcuts.ts";
import { words } from "./words.ts";

export function ShortcutsDialog() {
  if (!shortcutsShown.value) return null;
  const say = words();
  const close = () => {
    shortcutsShown.value = false;
  };
  const shortcuts: readonly (readonly [string, string])[] = [
    ["/", say.shortcutAsk],
    ["n", say.shortcutNew],
    ["Enter", say.shortcutSend],
    ["Shift Enter", say.shortcutLine],
    ["Esc", say.shortcutStop],
    ["?", say.shortcutHelp],
  ];
  return (
    <Dialog title={say.help} close={close}>
      <dl class="shortcuts">
        {shortcuts.map(([keys, does]) => (
          <div key={keys}>
            <dt>
              {keys.split(" ").map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <label class="choice shortcuts-choice">
        <input
          type="checkbox"
          checked={singleKeys.value}
          onChange={(event) => turnSingleKeys(event.currentTarget.checked)}
        />
        <span>
          <span class="choice-name">{say.singleKeys}</span>
          <span class="choice-more">{say.singleKeysMore}</span>
        </span>
      </label>
      <button type="button" class="button" onClick={close}>
        {say.close}
      </button>
    </Dialog>
  );
}
