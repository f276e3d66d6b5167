// The start of the page.

import { render } from "preact";
import { App } from "./app/App.tsx";
import { speakFirst } from "./i18n/languages.ts";

// Without a top-level await: parts that load later import this module.
void speakFirst().then(() => {
  const root = document.getElementById("page");
  if (root) render(<App />, root);
});
