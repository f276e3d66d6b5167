// The start of the page.

import { render } from "preact";
import { App } from "./app/App.tsx";
import { speakFirst } from "./i18n/languages.ts";

await speakFirst();
const root = document.getElementById("page");
if (root) render(<App />, root);
