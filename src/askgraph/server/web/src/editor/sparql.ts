// Tokenizes SPARQL, also unfinished queries, for the editor and for read-only display.

import { type StreamParser, StringStream } from "@codemirror/streamparser";

export const KEYWORDS = (
  "select ask construct describe where from named prefix base distinct reduced as filter exists not " +
  "optional union minus graph service silent bind values undef group by having order asc desc limit " +
  "offset in count sum avg min max sample group_concat separator true false"
).split(" ");

export const FUNCTIONS = (
  "str lang langmatches datatype bound iri uri bnode rand abs ceil floor round concat strlen ucase " +
  "lcase encode_for_uri contains strstarts strends strbefore strafter year month day hours minutes " +
  "seconds timezone tz now uuid struuid md5 sha1 sha256 sha512 coalesce if strlang strdt sameterm " +
  "isiri isuri isblank isliteral isnumeric regex substr replace triple subject predicate object"
).split(" ");

const KEYWORD = new Set(KEYWORDS);
const FUNCTION = new Set(FUNCTIONS);

interface State {
  /** The quotes that end the multi-line string around this position; "" outside. */
  quotes: string;
  depth: number;
}

/** The tokenizer in the form that CodeMirror expects. */
export const sparqlParser: StreamParser<State> = {
  name: "sparql",
  startState: () => ({ quotes: "", depth: 0 }),
  token(stream, state) {
    if (state.quotes) return inLongText(stream, state);
    if (stream.eatSpace()) return null;
    return token(stream, state);
  },
  indent(state, after, context) {
    const closes = /^\s*[}\])]/.test(after) ? 1 : 0;
    return Math.max(0, state.depth - closes) * context.unit;
  },
  languageData: {
    commentTokens: { line: "#" },
    closeBrackets: { brackets: ["(", "[", "{", '"', "'"] },
    indentOnInput: /^\s*[}\])]$/,
  },
};

export interface Token {
  /** For example `keyword` or `variable`; null for white space. */
  readonly kind: string | null;
  readonly text: string;
}

/** The tokens of each line of a query. */
export function tokenLines(query: string): Token[][] {
  const state: State = { quotes: "", depth: 0 };
  return query.split("\n").map((text) => {
    const stream = new StringStream(text, 2, 2);
    const tokens: Token[] = [];
    while (!stream.eol()) {
      const kind = sparqlParser.token(stream, state);
      tokens.push({ kind, text: stream.current() });
      stream.start = stream.pos;
    }
    return tokens;
  });
}

function token(stream: StringStream, state: State): string | null {
  if (stream.match(/^#.*/)) return "comment";
  if (stream.match(/^[?$][\p{L}\p{N}_]+/u)) return "variable";
  if (stream.match(/^<[^\s<>"{}|^`\\]*>/)) return "iri";
  const long = stream.match(/^("""|''')/);
  if (long) {
    state.quotes = (long as RegExpMatchArray)[1] ?? "";
    return inLongText(stream, state);
  }
  if (stream.match(/^"(?:[^"\\]|\\.)*"?/) || stream.match(/^'(?:[^'\\]|\\.)*'?/)) return "string";
  if (stream.match(/^@[a-zA-Z]+(-[a-zA-Z0-9]+)*/)) return "meta";
  if (stream.match(/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?/)) return "number";
  if (stream.match(/^([\p{L}_][\p{L}\p{N}_.-]*)?:[\p{L}\p{N}_.:%\\-]*/u)) return "name";
  const word = stream.match(/^[a-zA-Z_][a-zA-Z0-9_]*/) as RegExpMatchArray | null;
  if (word) return wordToken(word[0]);
  const next = stream.next() ?? "";
  if ("{([".includes(next)) state.depth += 1;
  if ("})]".includes(next)) state.depth = Math.max(0, state.depth - 1);
  return "{}()[]".includes(next) ? "bracket" : "punctuation";
}

function wordToken(word: string): string {
  const lower = word.toLowerCase();
  if (lower === "true" || lower === "false") return "bool";
  if (word === "a" || KEYWORD.has(lower)) return "keyword";
  return FUNCTION.has(lower) ? "function" : "name";
}

function inLongText(stream: StringStream, state: State): string {
  while (!stream.eol()) {
    if (stream.match(state.quotes)) {
      state.quotes = "";
      break;
    }
    if (stream.next() === "\\") stream.next();
  }
  return "string";
}
