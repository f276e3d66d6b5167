// The page: the shell around whichever part the address names.

import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { keyWanted } from "../api/http.ts";
import { AskPage } from "../ask/AskPage.tsx";
import { turns } from "../ask/conversation.ts";
import { language } from "../i18n/index.ts";
import { Button, Choice, Dialog, Facts, Field, Form, LinkButton } from "../parts/parts.tsx";
import { adding, listenToDrops } from "./drops.ts";
import { Header } from "./Header.tsx";
import { Later } from "./Later.tsx";
import { arrive, followLinks, left, type PageName, place, type Route, routeOf } from "./router.ts";
import { listenToShortcuts, shortcutsShown, singleKeys, turnSingleKeys } from "./shortcuts.ts";
import { say } from "./words.ts";

/** The props of pages that load on demand: the id and the query. */
export interface PageProps {
  readonly id: string;
  readonly query: URLSearchParams;
}

const LOADED: Partial<Record<PageName, () => Promise<ComponentType<PageProps>>>> = {
  graphs: () => import("../browse/GraphList.tsx").then((found) => found.BrowsePage),
  add: () => adding().then((found) => found.AddPage),
  history: () => import("../history/HistoryPage.tsx").then((found) => found.HistoryPage),
  boards: () => import("../boards/BoardPage.tsx").then((found) => found.BoardsPage),
  embed: () => import("../ask/EmbedPage.tsx").then((found) => found.EmbedPage),
};

export function App() {
  useEffect(followLinks, []);
  useEffect(listenToShortcuts, []);
  useEffect(listenToDrops, []);
  useEffect(() => {
    document.documentElement.lang = language.value;
  }, [language.value]);
  useEffect(arrive, [left.value]);
  const { path, query } = place.value;
  const route = routeOf(path);
  const { page, id } = route;
  const title = titleOf(route);
  const load = LOADED[page];
  useEffect(() => {
    document.title = title ? `${title} · askgraph` : "askgraph";
  }, [title]);
  if (page === "embed" && load) return <Later load={load} props={{ id, query }} />;
  return (
    <>
      <a class="skip-link button primary" href="#content">
        {say.skip}
      </a>
      <Header shown={page} />
      <main id="content" tabIndex={-1}>
        {page === "ask" && <AskPage run={id || null} />}
        {page === "missing" && <Missing />}
        {load && <Later key={page} load={load} props={{ id, query }} />}
      </main>
      <footer class="page">
        <a class="faint" href="/docs">
          {say.interfaces}
        </a>
      </footer>
      <KeyDialog />
      <ShortcutsDialog />
    </>
  );
}

function Missing() {
  return (
    <div class="page stack">
      <h1>{say.missing}</h1>
      <p class="muted">{say.missingMore}</p>
      <p>
        <LinkButton look="primary" href="/" text={say.toStart} />
      </p>
    </div>
  );
}

function titleOf({ page, id }: Route): string {
  if (page === "ask") return id ? (turns.value.at(-1)?.question ?? "") : "";
  if (page === "graphs" && id) return id;
  if (page === "missing" || page === "embed") return "";
  return page === "add" ? say.addGraph : say[page];
}

/** The dialog for an API key, if the server wants one. */
function KeyDialog() {
  const [key, setKey] = useState("");
  const wanted = keyWanted.value;
  if (!wanted) return null;
  const settle = (given: string | null) => {
    setKey("");
    wanted.settle(given);
  };
  return (
    <Dialog title={say.keyTitle} close={() => settle(null)}>
      <Form class="stack" onSend={() => key.trim() && settle(key.trim())}>
        <p class="muted">{wanted.refused ? say.keyRefused : say.keyMore}</p>
        <Field
          label={say.keyLabel}
          value={key}
          onText={setKey}
          input={{ type: "password", autocomplete: "off", spellcheck: false }}
        />
        <div class="row">
          <Button look="primary" type="submit" disabled={!key.trim()} text={say.keyUse} />
          <Button look="quiet" onClick={() => settle(null)} text={say.cancel} />
        </div>
      </Form>
    </Dialog>
  );
}

/** The list of keyboard shortcuts. */
function ShortcutsDialog() {
  if (!shortcutsShown.value) return null;
  const close = () => {
    shortcutsShown.value = false;
  };
  const [enter = "", shift = "", ctrl = "", stop = ""] = say.keys;
  const shortcuts = [
    ["/", say.shortcutAsk],
    ["n", say.shortcutNew],
    [enter, say.shortcutSend],
    [`${shift} ${enter}`, say.shortcutLine],
    [`${ctrl} ${enter}`, say.shortcutRun],
    [stop, say.shortcutStop],
    ["?", say.shortcutHelp],
  ] as const;
  return (
    <Dialog title={say.help} close={close}>
      <Facts
        class="shortcuts stack near"
        facts={shortcuts.map(([keys, does]) => [
          keys.split(" ").map((key) => <kbd key={key}>{key}</kbd>),
          does,
        ])}
      />
      <Choice
        name={say.singleKeys}
        more={say.singleKeysMore}
        checked={singleKeys.value}
        onChange={turnSingleKeys}
      />
      <Button look="" onClick={close} text={say.close} />
    </Dialog>
  );
}
