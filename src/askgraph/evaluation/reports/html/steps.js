// The trace of an answer, step by step.

const OUTCOMES = new Set(["answer", "clarification", "refusal"]);

function traceView(answer) {
  const steps = answer.steps ?? [];
  const title = `${data.systems[answer.system]}: ${counted(steps.length, "step")}`;
  if (!steps.length) return element("p", { class: "none" }, title);
  const best = draftScores(steps, answer.drafts);
  const list = element("ol", { class: "steps" }, ...steps.map((step) => stepView(step, best)));
  const open = answer.system === 0 || mainScore(answer) < RIGHT;
  return element("details", { class: "trace", open }, element("summary", {}, title), list);
}

// What each draft would have scored: known for the best ones, by rank.
function draftScores(steps, scores) {
  const drafts = steps.filter((step) => step.step === "draft");
  drafts.sort((one, other) => other.score - one.score);
  return new Map(drafts.slice(0, scores.length).map((draft, at) => [draft, scores[at]]));
}

function stepView(step, best) {
  const content = (STEPS[step.step] ?? otherStep)(step, best);
  const kind = OUTCOMES.has(step.step) ? "outcome" : "";
  return element(
    "li",
    { class: `step ${kind}` },
    element("div", { class: "kind" }, spoken(step.step ?? "step")),
    element("div", { class: "what" }, ...content.filter(Boolean)),
  );
}

const STEPS = {
  findings: ({ mentions = [], unused_words: unused = [] }) => [
    mentions.length ? tableOf(["Words", "Kind", "Thing", "Score"], mentions.map(mentionRow)) : null,
    unused.length ? element("p", { class: "hint" }, `Unused words: ${unused.join(" ")}`) : null,
  ],
  draft: (step, best) => [draftView(step, best)],
  thought: ({ text }) => [element("p", { class: "prose" }, text)],
  tool_use: (step) => [
    element("p", {}, element("code", {}, step.tool), took(step.seconds)),
    element("pre", { class: "plain" }, argumentsOf(step.arguments)),
    folded(step.failed ? "Failed" : "Output", step.output),
  ],
  prompt: ({ purpose, messages = [], tools = [] }) => [
    element("p", { class: "hint" }, [purpose, ...tools].join(" · ")),
    ...messages.map(({ role, text }) => folded(role, text)),
  ],
  model_turn: ({ text, reasoning, calls = [], usage = {} }) => [
    folded("Reasoning", reasoning),
    text ? element("p", { class: "prose" }, text) : null,
    ...calls.map((call) => element("pre", { class: "plain" }, `${call.tool} ${call.arguments}`)),
    element("p", { class: "hint" }, tokensOf(usage)),
  ],
  answer: (step) => outcomeView(step),
  clarification: (step) => [
    element("p", {}, step.clarification),
    optionList(step.options ?? []),
    ...outcomeView(step),
  ],
  refusal: (step) => [element("p", {}, step.reason), ...outcomeView(step)],
};

function mentionRow({ words, kind, target, label, score }) {
  const thing = element("td", {}, label, " ", element("span", { class: "space" }, target));
  return [words, kind, thing, element("td", { class: "number" }, Number(score).toFixed(2))];
}

function draftView(draft, best) {
  const known = best.get(draft);
  const first = draft.words || draft.query.replace(/^(\s*PREFIX[^\n]*\n)+/i, "").slice(0, 120);
  return element(
    "details",
    {},
    element(
      "summary",
      {},
      element("span", { class: "rank" }, Number(draft.score).toFixed(3)),
      known === undefined ? null : scoreTag(known),
      " ",
      first,
    ),
    queryBlock(draft.query_laid ?? draft.query),
  );
}

function argumentsOf(values = {}) {
  return Object.entries(values)
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join("\n");
}

function tokensOf({ input_tokens: sent = 0, cached_tokens: cached = 0, output_tokens: said = 0 }) {
  return `${counted(sent, "token")} in, ${cached} of them cached, ${said} out`;
}

function took(time) {
  return time === undefined ? null : element("span", { class: "hint" }, ` ${seconds(time)}`);
}

function folded(title, text) {
  if (!text) return null;
  const short = text.length < 300;
  const size = counted(text.length, "character");
  return element(
    "details",
    { open: short },
    element("summary", {}, `${title}, ${size}`),
    element("pre", { class: "plain" }, text),
  );
}

function outcomeView({ words, why_empty: why, truncated, cut_short: ended }) {
  return [
    words ? element("p", { class: "prose" }, words) : null,
    why ? element("p", {}, `Empty because: ${why}`) : null,
    truncated ? element("p", { class: "hint" }, `Cut off: ${truncated.reason}`) : null,
    ended ? element("p", { class: "hint" }, `Cut short: ${ended}`) : null,
  ];
}

function optionList(options) {
  const items = options.map(({ words, count }) =>
    element("li", {}, `${words} (${counted(count, "row")})`),
  );
  return items.length ? element("ul", {}, ...items) : null;
}

// A step of a kind that this page does not know: all that it holds.
function otherStep(step) {
  return [element("pre", { class: "plain" }, JSON.stringify(step, null, 2))];
}
