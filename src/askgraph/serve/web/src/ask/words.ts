// The texts of asking and answers.

import { formatNumber, texts } from "../i18n/index.ts";

const rows = (count: number) => (count === 1 ? "1 row" : `${formatNumber(count)} rows`);
const zeilen = (count: number) => (count === 1 ? "1 Zeile" : `${formatNumber(count)} Zeilen`);

export const say = texts({
  welcome: ["What would you like to know?", "Was möchten Sie wissen?"],
  question: ["Your question", "Ihre Frage"],
  placeholder: ["Ask a question, in your own words", "Stellen Sie eine Frage, in Ihren Worten"],
  followUp: ["Ask a follow-up question", "Stellen Sie eine Anschlussfrage"],
  ask: ["Ask", "Fragen"],
  askOn: ["Follow up", "Weiterfragen"],
  try: ["Try one of these", "Zum Ausprobieren"],
  recent: ["Asked before", "Zuletzt gefragt"],
  suggestions: ["Names in the graph", "Namen im Graphen"],
  suggested: [
    (count: number) => (count === 1 ? "1 suggestion" : `${count} suggestions`),
    (count: number) => (count === 1 ? "1 Vorschlag" : `${count} Vorschläge`),
  ],
  kinds: [
    ["thing", "class", "property", "value"],
    ["Ding", "Klasse", "Eigenschaft", "Wert"],
  ],

  chooseGraphs: ["Ask which graphs?", "Welche Graphen fragen?"],
  severalGraphs: [(count: number) => `${count} graphs`, (count: number) => `${count} Graphen`],
  triples: [
    (count: number) => `${formatNumber(count)} triples`,
    (count: number) => `${formatNumber(count)} Tripel`,
  ],
  remote: ["at an address", "unter einer Adresse"],
  browseGraph: ["Browse", "Ansehen"],
  addGraph: ["Add a graph", "Graphen hinzufügen"],
  noGraphs: ["There is no graph yet", "Es gibt noch keinen Graphen"],
  noGraphsMore: [
    "Add one from a file or from the address of a SPARQL endpoint, then ask it.",
    "Fügen Sie einen aus einer Datei oder unter der Adresse eines SPARQL-Endpunkts hinzu, und fragen Sie ihn dann.",
  ],
  chooseMethod: ["How to answer?", "Wie antworten?"],
  model: ["Language model", "Sprachmodell"],
  needsModel: ["with a language model", "mit Sprachmodell"],
  withoutModel: ["without a language model", "ohne Sprachmodell"],
  onAverage: [
    (time: string) => `${time} on average here`,
    (time: string) => `hier im Mittel ${time}`,
  ],
  notSetUp: [
    (count: number) => `${count} more, with a language model`,
    (count: number) => `${count} weitere, mit einem Sprachmodell`,
  ],
  usual: ["default", "Vorgabe"],

  asking: ["Asking …", "Wird gefragt …"],
  queued: [
    (ahead: number) =>
      ahead === 0 ? "Next in line …" : `Waiting, ${formatNumber(ahead)} before it …`,
    (ahead: number) =>
      ahead === 0 ? "Gleich an der Reihe …" : `Wartet, ${formatNumber(ahead)} davor …`,
  ],
  stop: ["Stop", "Anhalten"],
  stopped: ["Stopped", "Angehalten"],
  stoppedMore: [
    "The question was stopped before there was an answer.",
    "Die Frage wurde angehalten, bevor es eine Antwort gab.",
  ],
  askAgain: ["Ask again", "Noch einmal fragen"],
  askAnew: ["Ignore it and ask again", "Ohne sie noch einmal fragen"],
  bestEffort: ["The best attempt", "Der beste Versuch"],
  earlier: ["Earlier in this conversation", "Früher in diesem Gespräch"],

  yes: ["Yes", "Ja"],
  no: ["No", "Nein"],
  nothing: ["Nothing found", "Nichts gefunden"],
  rows: [rows, zeilen],
  rowsCut: [
    (count: number) => `The first ${rows(count)}`,
    (count: number) =>
      count === 1 ? "Die erste Zeile" : `Die ersten ${formatNumber(count)} Zeilen`,
  ],
  whyEmpty: ["Why is it empty?", "Warum ist sie leer?"],
  cutOff: ["Not all rows are shown", "Es sind nicht alle Zeilen zu sehen"],
  cutShort: [
    "The method was stopped early; this is its best attempt so far",
    "Die Methode wurde vorzeitig beendet; dies ist ihr bester Versuch bis dahin",
  ],
  saysModel: ["What the language model says of it", "Was das Sprachmodell dazu sagt"],
  clarification: ["Which of these do you mean?", "Was davon meinen Sie?"],
  refusal: ["No answer", "Keine Antwort"],
  refusalBest: [
    "The best attempt is below; it may not answer the question.",
    "Unten steht der beste Versuch; er beantwortet die Frage vielleicht nicht.",
  ],
  confirmedBefore: [
    (when: string) => `Confirmed before, on ${when}`,
    (when: string) => `Früher bestätigt, am ${when}`,
  ],
  confirmedAs: [
    (question: string) => `It was asked as “${question}”.`,
    (question: string) => `Gefragt wurde damals: „${question}“.`,
  ],

  readAs: ["Read as", "Gelesen als"],
  unused: ["Words not used", "Nicht gebrauchte Wörter"],
  checked: ["What is odd about the query", "Was an der Anfrage auffällt"],
  otherWords: ["Put it in other words", "Anders ausdrücken"],
  askQuestion: ["Ask a question", "Eine Frage stellen"],
  whatItHolds: ["See what the graph holds", "Sehen, was der Graph enthält"],
  seeGraphs: ["See the graphs", "Die Graphen ansehen"],
  noneOfThese: ["None of these", "Nichts davon"],
  noneMore: [
    "Then say it in other words, or change the best attempt, which is shown below.",
    "Dann sagen Sie es anders, oder ändern Sie den besten Versuch, der unten steht.",
  ],
  noneOnly: [
    "Then say it in other words, or see what the graph has names for.",
    "Dann sagen Sie es anders, oder sehen Sie nach, wofür der Graph Namen hat.",
  ],
  faulty: ["The changed query could not be run", "Die geänderte Anfrage ließ sich nicht ausführen"],
  backToAnswer: ["Back to the answer", "Zurück zur Antwort"],
  partIs: [(label: string) => `“${label}”: change it`, (label: string) => `„${label}“: ändern`],
  instead: ["Take instead", "Stattdessen"],
  noAlternatives: [
    "Nothing similar was found in the graph.",
    "Im Graphen wurde nichts Ähnliches gefunden.",
  ],
  otherValue: ["Another value", "Ein anderer Wert"],
  use: ["Use it", "Übernehmen"],
  searchOther: ["Search the graph", "Im Graphen suchen"],
  changed: ["You changed the reading", "Sie haben die Lesart geändert"],
  back: ["Back to the original", "Zurück zum Original"],

  sureness: ["How sure", "Wie sicher"],
  sure: ["Sure", "Sicher"],
  fairly: ["Fairly sure", "Ziemlich sicher"],
  unsure: ["Unsure", "Unsicher"],
  guess: ["A guess", "Geraten"],
  confidence: [
    (percent: number) =>
      `${percent} %: an estimate. Where it was measured, on the benchmarks of the documentation, answers with it were about as often right; on this graph it may differ.`,
    (percent: number) =>
      `${percent} %: eine Schätzung. Wo gemessen wurde, auf den Benchmarks der Dokumentation, waren Antworten damit etwa so oft richtig; auf diesem Graphen kann es anders sein.`,
  ],

  results: ["Result and evidence", "Ergebnis und Belege"],
  query: ["Query", "Anfrage"],
  readings: [
    (count: number) => `Other readings (${count})`,
    (count: number) => `Andere Lesarten (${count})`,
  ],
  steps: [
    (count: number) => (count === 1 ? "1 step" : `${count} steps`),
    (count: number) => (count === 1 ? "1 Schritt" : `${count} Schritte`),
  ],
  stepsOf: ["How it was found", "Wie sie gefunden wurde"],
  requests: [
    (count: number) => (count === 1 ? "1 query" : `${formatNumber(count)} queries`),
    (count: number) => (count === 1 ? "1 Anfrage" : `${formatNumber(count)} Anfragen`),
  ],
  calls: [
    (count: number) => (count === 1 ? "1 model call" : `${formatNumber(count)} model calls`),
    (count: number) => (count === 1 ? "1 Modellaufruf" : `${formatNumber(count)} Modellaufrufe`),
  ],
  tokens: [
    (count: number) => `${formatNumber(count)} tokens`,
    (count: number) => `${formatNumber(count)} Token`,
  ],
  loadSteps: ["Loading the steps …", "Die Schritte werden geladen …"],

  right: ["Right", "Richtig"],
  wrong: ["Wrong", "Falsch"],
  isRight: ["Is this right?", "Stimmt das?"],
  confirmHint: [
    "Confirm it: the same question then gets this answer at once",
    "Bestätigen: dieselbe Frage bekommt dann sofort diese Antwort",
  ],
  confirmed: ["Confirmed", "Bestätigt"],
  withdraw: ["Withdraw", "Zurückziehen"],
  withdrawn: [
    "Withdrawn: the question is answered anew from now on.",
    "Zurückgezogen: die Frage wird ab jetzt wieder neu beantwortet.",
  ],
  withdrawToo: ["Withdraw the confirmed answer, too", "Auch die bestätigte Antwort zurückziehen"],
  wrongTitle: ["What is wrong?", "Was stimmt nicht?"],
  wrongPlaceholder: ["In a few words, if you like", "In wenigen Worten, wenn Sie mögen"],
  send: ["Send", "Senden"],
  thanks: ["Thank you. Noted as wrong.", "Danke. Als falsch vermerkt."],
  share: ["Share", "Teilen"],
  shareTitle: ["A link to this answer", "Ein Link zu dieser Antwort"],
  shareMore: [
    "Whoever may ask these graphs can open it.",
    "Wer diese Graphen fragen darf, kann sie öffnen.",
  ],
  shareNot: [
    "Until you tick this, the link opens for you only.",
    "Ohne dieses Häkchen öffnet der Link sie nur für Sie.",
  ],
  shareOn: ["Others may open it", "Andere dürfen sie öffnen"],
  useThis: ["Open", "Öffnen"],

  answerIs: [(text: string) => `Answer: ${text}`, (text: string) => `Antwort: ${text}`],
});
