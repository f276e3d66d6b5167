// Sets the chosen theme before anything is drawn, so that the page does not flash.

import { kept } from "./app/kept.ts";

const chosen = kept("theme");
if (chosen === "light" || chosen === "dark") document.documentElement.dataset["theme"] = chosen;
