// Files, and addresses of other pages, that are dropped anywhere become a graph.

import { navigate } from "./router.ts";

/** Loads the page that adds graphs. */
export const adding = () => import("../add/AddPage.tsx");

export function listenToDrops(): () => void {
  const stop = new AbortController();
  const listen = <Name extends "dragstart" | "dragend" | "dragover" | "drop">(
    name: Name,
    act: (event: DragEvent) => void,
  ) => document.addEventListener(name, act, stop);
  let isOwn = false; // a link or text of this page
  const accepts = ({ dataTransfer, defaultPrevented }: DragEvent) =>
    !isOwn &&
    !defaultPrevented &&
    dataTransfer?.types.some((type) => type === "Files" || type === "text/uri-list");
  listen("dragstart", () => {
    isOwn = true;
  });
  listen("dragend", () => {
    isOwn = false;
  });
  listen("dragover", (event) => accepts(event) && event.preventDefault());
  listen("drop", (event) => {
    if (!accepts(event)) return;
    event.preventDefault();
    const files = [...(event.dataTransfer?.files ?? [])];
    const address = event.dataTransfer?.getData("text/uri-list") ?? "";
    navigate("/add");
    void adding().then(({ addDropped }) => addDropped(files, address));
  });
  return () => stop.abort();
}
