// Types of the wire, as the server sends and takes them (askgraph.serve.protocols.rest).

export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly line?: number | null;
  readonly column?: number | null;
}

/** A term of a result. */
export interface Cell {
  readonly type: "iri" | "literal" | "blank" | "triple";
  readonly value: string;
  readonly label?: string | null;
  readonly datatype?: string | null;
  readonly language?: string | null;
}

export type Row = readonly (Cell | null)[];
type PlainValue = string | number | boolean | null;

export interface Usage {
  readonly requests: number;
  readonly llm_calls: number;
  readonly input_tokens: number;
  readonly cached_tokens: number;
  readonly output_tokens: number;
  readonly money: number;
}

/** The triples (N-Triples terms) behind a row, and the same in words. */
export interface Evidence {
  readonly row: number;
  readonly triples: readonly (readonly [string, string, string])[];
  readonly words: readonly string[];
}

/** A reading of an ambiguous question. */
interface Option {
  readonly words: string;
  readonly count: number;
  readonly query: string;
}

export interface Confirmed {
  readonly question: string;
  readonly when: string;
  readonly by: string | null;
  readonly example: string | null;
  readonly change: string | null;
}

export interface Truncated {
  readonly by: string;
  readonly reason: string;
}

export interface AnswerView {
  /** `edited` if a person wrote the query. */
  readonly status: "answer" | "clarification" | "refusal" | "edited";
  readonly sparql: string | null;
  readonly graph: string | null;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly PlainValue[])[];
  readonly cells: readonly Row[];
  /** Rows of the whole result, of which `cells` may hold the first. */
  readonly total: number;
  readonly boolean: boolean | null;
  readonly answer_columns: readonly string[];
  readonly ordered: boolean;
  readonly confidence: number;
  readonly words: string;
  readonly interpretation: string | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly evidence: readonly Evidence[];
  readonly why_empty: string | null;
  readonly truncated: Truncated | null;
  readonly cut_short: string | null;
  readonly confirmed: Confirmed | null;
  readonly clarification: string | null;
  readonly options: readonly Option[];
  readonly reason: string | null;
  readonly seconds: number;
  readonly usage: Usage;
  /** Only of an edited answer; rows of CONSTRUCT are triples. */
  readonly form?: "SELECT" | "ASK" | "CONSTRUCT";
}

type RunState = "queued" | "running" | "done" | "failed" | "cancelled" | "handed_back";

export interface RunView {
  readonly id: string;
  readonly session: string;
  readonly question: string;
  readonly language: string | null;
  readonly graphs: readonly string[];
  readonly method: string;
  readonly model: string | null;
  readonly state: RunState;
  readonly created: string;
  readonly seconds: number | null;
  readonly before: readonly { readonly question: string }[];
  readonly answer: AnswerView | null;
  readonly problem: Problem | null;
  readonly feedback: { readonly verdict: Verdict; readonly comment: string | null } | null;
  readonly verified: boolean;
  readonly shared: boolean;
  /** Whether it is the caller's own. */
  readonly mine: boolean;
}

/** A run in the history. */
export interface RunSummary {
  readonly id: string;
  readonly session: string;
  readonly question: string;
  readonly graphs: readonly string[];
  readonly method: string;
  readonly state: RunState;
  readonly status: AnswerView["status"] | null;
  readonly created: string;
  readonly seconds: number | null;
  /** The question that it goes on from. */
  readonly follows?: string | null;
}

export type Verdict = "right" | "wrong";

/** The body of POST /ask. */
export interface Asking {
  readonly question: string;
  readonly graphs?: readonly string[];
  readonly method?: string;
  readonly model?: string;
  readonly language?: string;
  readonly session?: string;
  readonly after?: string;
  readonly anew?: boolean;
}

// The steps, as the trace writes them; only the fields that the page shows are named.

interface Mention {
  readonly words: string;
  readonly kind: string;
  readonly target: string;
  readonly label: string;
  readonly score: number;
}

interface StepUsage extends Usage {
  readonly seconds: number;
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
  | { readonly step: "thought"; readonly text: string; readonly usage: StepUsage }
  | {
      readonly step: "prompt";
      readonly purpose: string;
      readonly messages: readonly unknown[];
      readonly tools: readonly unknown[];
    }
  | {
      readonly step: "model_turn";
      readonly choice: { readonly text?: string | null; readonly calls?: readonly unknown[] };
      readonly usage: StepUsage;
      readonly model: string;
    }
  | {
      readonly step: "tool_use";
      readonly tool: string;
      readonly arguments: Readonly<Record<string, unknown>>;
      readonly observation: {
        readonly text: string;
        readonly failed?: boolean;
        readonly query?: string | null;
        readonly rows?: number | null;
      };
      readonly seconds: number;
    };

/** The events of a run, in order; the last is an outcome, a problem, cancelled or handed back. */
export type RunEvent = { readonly seq: number; readonly id: string } & (
  | {
      readonly event: "run";
      readonly session: string;
      readonly question: string;
      readonly graphs: readonly string[];
      readonly method: string;
    }
  | { readonly event: "queued"; readonly ahead: number }
  | { readonly event: "step"; readonly step: Step }
  | { readonly event: "outcome"; readonly run: RunView }
  | { readonly event: "problem"; readonly problem: Problem }
  | { readonly event: "cancelled" }
  | { readonly event: "handed_back" }
);

/** A method; its costs are averages over `questions` asked here. */
export interface MethodInfo {
  readonly name: string;
  readonly words: string;
  readonly needs_model: boolean;
  readonly usable: boolean;
  readonly missing: string | null;
  readonly questions: number;
  readonly seconds: number | null;
  readonly tokens: number | null;
  readonly money: number | null;
}

export interface ModelInfo {
  readonly name: string;
  readonly model: string;
}

export interface Methods {
  readonly methods: readonly MethodInfo[];
  readonly models: readonly ModelInfo[];
  readonly default: string;
}

export interface GraphSummary {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly triples: number | null;
  readonly classes: number | null;
  readonly predicates: number | null;
  readonly languages: readonly string[];
  readonly remote: boolean;
  readonly source: string;
  readonly license: string;
  readonly addable_by_web: boolean;
}

export interface Completion {
  readonly text: string;
  readonly label: string;
  readonly iri: string;
  readonly kind: string;
  /** The position in the question of the words that it completes, in characters. */
  readonly start: number;
}

export interface VocabularyTerm {
  readonly iri: string;
  readonly label: string;
  readonly count: number;
}

export interface Vocabulary {
  readonly prefixes: Readonly<Record<string, string>>;
  readonly classes: readonly VocabularyTerm[];
  readonly predicates: readonly VocabularyTerm[];
}

export interface Finding {
  readonly check: string;
  readonly message: string;
  readonly severity: "error" | "warning" | "info";
  readonly line: number | null;
  readonly column: number | null;
  /** Its position in `query` of the validation, in characters. */
  readonly start: number | null;
  readonly end: number | null;
  readonly repair: string | null;
}

export interface Validation {
  /** The text that places count in. */
  readonly query: string;
  readonly findings: readonly Finding[];
  readonly words: string;
  readonly repaired: string | null;
}

/** A stretch of the read-back; with `part`, the part of the query that it names. */
export interface Piece {
  readonly text: string;
  readonly part?: number | null;
}

export interface Alternative {
  readonly iri?: string | null;
  readonly value?: string | null;
  readonly label: string;
  readonly description?: string | null;
  /** The number of solutions of the changed query, if they were counted. */
  readonly rows?: number | null;
}

export interface Part {
  readonly id: number;
  readonly kind: "entity" | "class" | "predicate" | "value";
  readonly iri?: string | null;
  readonly value?: string | null;
  readonly label: string;
  readonly alternatives: readonly Alternative[];
}

export interface Parts {
  readonly pieces: readonly Piece[];
  readonly parts: readonly Part[];
}

export interface Swapped {
  readonly query: string;
  readonly words: string;
}

/** The caller: GET /me. */
export interface Me {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly string[];
}

/** The limits of the server: GET /server. */
export interface ServerInfo {
  readonly upload_mb: number;
  readonly tiles: string;
  readonly [more: string]: unknown;
}
