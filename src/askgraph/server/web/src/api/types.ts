// Types of the REST API; types.mjs generates build/api.ts from its OpenAPI description.

import type * as api from "../../build/api.ts";

export type * from "../../build/api.ts";

export type Verdict = api.FeedbackView["verdict"];
export type Row = readonly (api.CellView | null)[];

/** The body of POST /ask, as the page fills it. */
export type Asking = { readonly [Key in keyof api.AskBody]: NonNullable<api.AskBody[Key]> };

// The steps, as the trace writes them; only the fields that the page shows are named.

interface Mention {
  readonly words: string;
  readonly kind: string;
  readonly target: string;
  readonly label: string;
}

export type Step =
  | {
      readonly step: "findings";
      readonly mentions: readonly Mention[];
      readonly unused_words: readonly string[];
    }
  | {
      readonly step: "draft";
      readonly query: string;
      readonly score: number;
      readonly words: string;
    }
  | { readonly step: "thought"; readonly text: string; readonly sent?: string }
  | { readonly step: "prompt"; readonly purpose: string; readonly messages: readonly unknown[] }
  | {
      readonly step: "model_turn";
      readonly choice: { readonly text?: string | null; readonly calls?: readonly unknown[] };
      readonly model: string;
    }
  | {
      readonly step: "tool_use";
      readonly tool: string;
      readonly arguments: Readonly<Record<string, unknown>>;
      readonly observation: {
        readonly text: string;
        readonly failed?: boolean;
        readonly rows?: number | null;
      };
      readonly seconds: number;
    };

/** The events of a run, in order; the last is an outcome, a problem, cancelled or handed back. */
export type RunEvent = { readonly seq: number; readonly id: string } & (
  | { readonly event: "run"; readonly session: string }
  | { readonly event: "queued"; readonly ahead: number }
  | { readonly event: "step"; readonly step: Step }
  | { readonly event: "outcome"; readonly run: api.RunView }
  | { readonly event: "problem"; readonly problem: api.Problem }
  | { readonly event: "cancelled" }
  | { readonly event: "handed_back" }
);
