// The start of the page.

import { render } from "preact";
import { App } from "./app/App.tsx";

const root = document.getElementById("page");
if (root) render(<App />, root);
