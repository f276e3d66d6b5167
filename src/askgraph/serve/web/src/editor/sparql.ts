// SPARQL for CodeMirror: a tokenizer that also colours queries that are not finished.

import { StreamLanguage, type StreamParser, type StringStream } from "@codemirror/language";
import { tags } from "@lezer/highlight";

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
  /** The quotes that end the string in several lines that we are in; "" outside. */
  quotes: string;
  depth: number;
}

const parser: StreamParser<State> = {
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
  tokenTable: { iri: tags.url, name: tags.name, variable: tags.variableName },
};

export const sparql = StreamLanguage.define(parser);

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
  if (stream.match(/^_:[\p{L}\p{N}_.-]+/u)) return "name";
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
