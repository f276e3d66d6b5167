// Server-sent events over fetch: with a body and an API key, which EventSource cannot send.

import { request } from "./http.ts";

/** Splits a stream of text chunks into the data of its events. */
export class EventParser {
  #rest = "";
  #data: string[] = [];

  /** The data of the events that a chunk completes. */
  push(chunk: string): string[] {
    const found: string[] = [];
    const lines = (this.#rest + chunk).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      const data = /^data(?:: ?(.*))?$/s.exec(line);
      if (data) this.#data.push(data[1] ?? "");
      if (line !== "" || this.#data.length === 0) continue;
      found.push(this.#data.join("\n"));
      this.#data = [];
    }
    return found;
  }
}

/** Yields the data of the events of a response until its stream ends. */
export async function* streamEvents(
  method: "GET" | "POST",
  path: string,
  body: unknown,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const response = await request(method, path, body, { signal, accept: "text/event-stream" });
  if (!response.body) return;
  // Chromium calls a request aborted if a reader sees the end of its body before the network does;
  // what is read as a whole waits for both.
  response
    .clone()
    .text()
    .catch(() => undefined);
  const parser = new EventParser();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield* parser.push(value);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
