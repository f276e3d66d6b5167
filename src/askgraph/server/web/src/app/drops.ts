// Files, and addresses of other pages, that are dropped anywhere become a graph.

import { navigate } from "./router.ts";

/** Loads the page that adds graphs. */
export const adding = () => import("../add/AddPage.tsx");

export function listenToDrops(): () => void {
  const stop = new AbortController();
  let isOwn = false; // a link or a text of this page is dragged
  for (const name of ["dragstart", "dragend", "dragover", "drop"] as const)
    document.addEventListener(name, act, stop);
  return () => stop.abort();

  function act(event: DragEvent): void {
    if (event.type === "dragstart" || event.type === "dragend") isOwn = event.type === "dragstart";
    const { dataTransfer: data, defaultPrevented } = event;
    if (isOwn || defaultPrevented || !data?.types.some((type) => TYPES.includes(type))) return;
    event.preventDefault();
    if (event.type !== "drop") return;
    const [files, address] = [[...data.files], data.getData("text/uri-list")];
    navigate("/add");
    void adding().then(({ addDropped }) => addDropped(files, address));
  }
}

const TYPES: readonly string[] = ["Files", "text/uri-list"];
