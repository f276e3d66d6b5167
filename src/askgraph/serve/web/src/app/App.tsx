// The page: the shell around whichever part the address names.

import { useEffect } from "preact/hooks";
import { AskPage } from "../ask/AskPage.tsx";
import { turns } from "../ask/conversation.ts";
import { language } from "../i18n/index.ts";
import { arrive } from "./arriving.ts";
import { Header } from "./Header.tsx";
import { KeyDialog } from "./KeyDialog.tsx";
import { Later } from "./Later.tsx";
import { followLinks, left, place, type Route, routeOf } from "./router.ts";
import { ShortcutsDialog } from "./ShortcutsDialog.tsx";
import { listenToShortcuts } from "./shortcuts.ts";
import { words } from "./words.ts";

const browse = () => import("../browse/BrowsePage.tsx").then((found) => found.BrowsePage);
const add = () => import("../add/AddPage.tsx").then((found) => found.AddPage);
const compare = () => import("../compare/ComparePage.tsx").then((found) => found.ComparePage);
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
        {words().skip}
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
    case "missing":
      return <Missing />;
  }
}

function Missing() {
  const say = words();
  return (
    <div class="page missing">
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
  const say = words();
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
    case "compare":
    case "history":
      return `${say[route.page]} · askgraph`;
    default:
      return "askgraph";
  }
}
