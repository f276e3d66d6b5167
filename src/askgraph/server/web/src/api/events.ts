// Server-sent events over fetch: with a body and an API key, which EventSource cannot send.

import { type Options, request } from "./http.ts";

interface ServerEvent {
  readonly id: string;
  readonly name: string;
  readonly data: string;
}

/** Splits a stream of text into events, however it was cut into chunks. */
export class EventParser {
  #rest = "";
  #id = "";
  #name = "";
  #data: string[] = [];

  /** The events that a chunk completes. */
  push(chunk: string): ServerEvent[] {
    const found: ServerEvent[] = [];
    const lines = (this.#rest + chunk).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "") {
        const event = this.#dispatched();
        if (event) found.push(event);
      } else {
        this.#take(line);
      }
    }
    return found;
  }

  #take(line: string): void {
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "data") this.#data.push(value);
    else if (field === "event") this.#name = value;
    else if (field === "id") this.#id = value;
  }

  #dispatched(): ServerEvent | null {
    const data = this.#data;
    const name = this.#name || "message";
    this.#data = [];
    this.#name = "";
    return data.length > 0 ? { id: this.#id, name, data: data.join("\n") } : null;
  }
}

/** The events that a request is answered with, until its stream ends. */
export async function* eventsOf(
  method: "GET" | "POST",
  path: string,
  body?: unknown,
  options: Options = {},
): AsyncGenerator<ServerEvent> {
  const response = await request(method, path, body, { ...options, accept: "text/event-stream" });
  if (!response.body) return;
  // Chromium calls a request aborted if a reader sees the end of its body before the network does;
  // what is read as a whole waits for both.
  const whole = response.clone().text();
  whole.catch(() => undefined);
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
