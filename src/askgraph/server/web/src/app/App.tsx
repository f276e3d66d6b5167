// The page: the shell around whichever part the address names.

import { useEffect, useState } from "preact/hooks";
import { keyWanted } from "../api/http.ts";
import { AskPage } from "../ask/AskPage.tsx";
import { turns } from "../ask/conversation.ts";
import { language } from "../i18n/index.ts";
import { Button, Choice, Dialog, Facts, Field, Form } from "../parts/parts.tsx";
import { Header } from "./Header.tsx";
import { Later } from "./Later.tsx";
import { arrive, followLinks, left, place, type Route, routeOf } from "./router.ts";
import { listenToShortcuts, shortcutsShown, singleKeys, turnSingleKeys } from "./shortcuts.ts";
import { say } from "./words.ts";

const browse = () => import("../browse/BrowsePage.tsx").then((found) => found.BrowsePage);
const add = () => import("../add/AddPage.tsx").then((found) => found.AddPage);
const compare = () => import("../compare/ComparePage.tsx").then((found) => found.ComparePage);
const boards = () => import("../boards/BoardsPage.tsx").then((found) => found.BoardsPage);
const history = () => import("../history/HistoryPage.tsx").then((found) => found.HistoryPage);

export function App() {
  useEffect(followLinks, []);
  useEffect(listenToShortcuts, []);
  useEffect(() => {
    document.documentElement.lang = language.value;
  }, [language.value]);
  useEffect(arrive, [left.value]);
  const route = routeOf(place.value.path);
  const title = titleOf(route);
  useEffect(() => {
    document.title = title;
  }, [title]);
  return (
    <>
      <a class="skip-link" href="#content">
        {say.skip}
      </a>
      <Header route={route} />
      <main id="content" tabIndex={-1}>
        <Page route={route} />
      </main>
      <KeyDialog />
      <ShortcutsDialog />
    </>
  );
}

function Page({ route }: { route: Route }) {
  const { query } = place.value;
  switch (route.page) {
    case "ask":
      return <AskPage run={null} />;
    case "run":
      return <AskPage run={route.id} />;
    case "graphs":
      return <Later load={browse} props={{ graph: null, query }} />;
    case "graph":
      return <Later load={browse} props={{ graph: route.graph, query }} />;
    case "add":
      return <Later load={add} props={{}} />;
    case "compare":
      return <Later load={compare} props={{ query }} />;
    case "history":
      return <Later load={history} props={{ query }} />;
    case "boards":
      return <Later load={boards} props={{ board: null }} />;
    case "board":
      return <Later load={boards} props={{ board: route.board }} />;
    case "missing":
      return <Missing />;
  }
}

function Missing() {
  return (
    <div class="page stack missing">
      <h1>{say.missing}</h1>
      <p class="muted">{say.missingMore}</p>
      <p>
        <a class="button primary" href="/">
          {say.toStart}
        </a>
      </p>
    </div>
  );
}

function titleOf(route: Route): string {
  switch (route.page) {
    case "run": {
      const asked = turns.value[turns.value.length - 1]?.question;
      return asked ? `${asked} · askgraph` : "askgraph";
    }
    case "graphs":
      return `${say.graphs} · askgraph`;
    case "add":
      return `${say.addGraph} · askgraph`;
    case "graph":
      return `${route.graph} · askgraph`;
    case "board":
      return `${say.boards} · askgraph`;
    case "boards":
    case "compare":
    case "history":
      return `${say[route.page]} · askgraph`;
    default:
      return "askgraph";
  }
}

// The dialog for an API key, if the server wants one.

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
      <Form
        class="stack"
        onSend={() => {
          if (key.trim()) settle(key.trim());
        }}
      >
        <p class="muted">{wanted.refused ? say.keyRefused : say.keyMore}</p>
        <Field
          label={say.keyLabel}
          value={key}
          onText={setKey}
          input={{ type: "password", autocomplete: "off", spellcheck: false }}
        />
        <div class="row">
          <Button look="primary" type="submit" disabled={!key.trim()}>
            {say.keyUse}
          </Button>
          <Button look="quiet" onClick={() => settle(null)}>
            {say.cancel}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

// The list of keyboard shortcuts.

function ShortcutsDialog() {
  if (!shortcutsShown.value) return null;
  const close = () => {
    shortcutsShown.value = false;
  };
  const [enter = "", shift = "", ctrl = "", stop = ""] = say.keys;
  const shortcuts: readonly (readonly [string, string])[] = [
    ["/", say.shortcutAsk],
    ["n", say.shortcutNew],
    [enter, say.shortcutSend],
    [`${shift} ${enter}`, say.shortcutLine],
    [`${ctrl} ${enter}`, say.shortcutRun],
    [stop, say.shortcutStop],
    ["?", say.shortcutHelp],
  ];
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
      <p>
        <a href="/docs">{say.interfaces}</a>
      </p>
      <Button look="" onClick={close}>
        {say.close}
      </Button>
    </Dialog>
  );
}
