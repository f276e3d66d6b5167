// The bar at the top: links to the pages, language and theme.

import { keepKey, keyInUse } from "../api/http.ts";
import { LANGUAGES, type Language, language, named } from "../i18n/index.ts";
import { speak } from "../i18n/languages.ts";
import type { IconName } from "../parts/Icon.tsx";
import { Popover } from "../parts/Popover.tsx";
import { Button, Choice, QuietButton } from "../parts/parts.tsx";
import type { PageName } from "./router.ts";
import { shortcutsShown } from "./shortcuts.ts";
import { chooseTheme, THEMES, type Theme, theme } from "./theme.ts";
import { say } from "./words.ts";

const THEME_ICONS: Readonly<Record<Theme, IconName>> = {
  system: "system",
  light: "sun",
  dark: "moon",
};

const LINKS = [
  ["ask", "/"],
  ["graphs", "/graphs"],
  ["history", "/history"],
  ["boards", "/boards"],
] as const;

export function Header({ shown }: { shown: PageName }) {
  return (
    <header class="bar">
      <a class="brand" href="/" aria-label={say.home}>
        <Mark />
        <span>askgraph</span>
      </a>
      <nav aria-label={say.pages}>
        {LINKS.map(([page, href]) => (
          <a key={page} href={href} aria-current={shown === page ? "page" : undefined}>
            {say[page]}
          </a>
        ))}
      </nav>
      <div class="bar-tools row tight at-end">
        {keyInUse.value && <QuietButton onClick={() => keepKey(null)} text={say.keyForget} />}
        <LanguageSwitch />
        <ThemeSwitch />
        <Button
          look="quiet icon small wide-only"
          icon="help"
          aria-label={say.help}
          title={`${say.help} (?)`}
          onClick={() => {
            shortcutsShown.value = true;
          }}
        />
      </div>
    </header>
  );
}

function LanguageSwitch() {
  const spoken = language.value;
  return (
    <Popover
      title={say.language}
      label={
        <>
          {spoken.toUpperCase()}
          <span class="seen-by-readers">{`, ${named(say.language, LANGUAGES[spoken])}`}</span>
        </>
      }
    >
      {() => (
        <fieldset class="choices languages">
          <legend>{say.language}</legend>
          {(Object.keys(LANGUAGES) as Language[]).map((tag) => (
            <Choice
              key={tag}
              group="language"
              name={<span lang={tag}>{LANGUAGES[tag]}</span>}
              checked={tag === spoken}
              onChange={() => void speak(tag)}
            />
          ))}
        </fieldset>
      )}
    </Popover>
  );
}

function ThemeSwitch() {
  const at = THEMES.indexOf(theme.value);
  const next = THEMES[(at + 1) % THEMES.length] ?? "system";
  const label = named(say.theme, say.themes[at]);
  return (
    <Button
      look="quiet icon small"
      icon={THEME_ICONS[theme.value]}
      label={label}
      onClick={() => chooseTheme(next)}
    />
  );
}

function Mark() {
  return (
    <svg width="26" height="26" viewBox="0 0 32 32" aria-hidden="true">
      <path
        d="M9 10 22 8M9 10l9 14M22 8l-4 16"
        stroke="currentColor"
        stroke-width="2.5"
        fill="none"
      />
      <g fill="currentColor">
        <circle cx="9" cy="10" r="4.6" />
        <circle cx="23" cy="8" r="3.6" />
        <circle cx="18" cy="24" r="5" />
      </g>
    </svg>
  );
}
