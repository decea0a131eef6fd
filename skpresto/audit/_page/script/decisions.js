// What was decided: row -> {decision, label, ...}, kept in this browser.

document.documentElement.classList.add("js");
const $ = (id) => document.getElementById(id);
const data = JSON.parse($("data").textContent);
const { items, classes } = data;
/* Names come with the data only where they are not made of id and row. */
items.name ??= items.row.map((row, item) => (items.id ? `${items.id[item]} · row ${row}` : `row ${row}`));
const KEY = `skpresto-audit:${data.fingerprint}`;
const KINDS = { keep: "kept", accept: "changed", other: "changed", unsure: "unsure", discard: "discarded" };
const whole = (n) => n.toLocaleString("en-US");
const labelsOf = (n) => `${whole(n)} ${n === 1 ? "label" : "labels"}`;

/* Beside decision and label, each may have: by (who), comment, bulk (the filter of a decision about many), and
   opinions, what several reviewers said; "settled" if somebody has decided after that. */
let decisions = new Map();
/* Answers given in the control view: only these are a random sample. */
let answers = new Map();
/* Records of loaded files about rows that this page does not list, by id or row. */
let elsewhere = new Map();
/* Steps that can be taken back, the last ones also after a reload. */
let history = [];
const MOST_STEPS = 20;

const isDecision = ([, d]) => d && Object.hasOwn(KINDS, d.decision);

function restore() {
  const stored = (part) => JSON.parse(localStorage.getItem(KEY + part) || "[]");
  try {
    decisions = new Map(stored("").filter(isDecision));
    answers = new Map(stored(":control").filter(isDecision));
    elsewhere = new Map(stored(":elsewhere"));
    history = stored(":history");
    $("reviewer").value = localStorage.getItem("skpresto-audit:reviewer") || "";
  } catch {
    decisions = new Map();
    answers = new Map();
  }
}

function store() {
  try {
    localStorage.setItem(KEY, JSON.stringify([...decisions]));
    localStorage.setItem(`${KEY}:control`, JSON.stringify([...answers]));
    localStorage.setItem(`${KEY}:elsewhere`, JSON.stringify([...elsewhere]));
    localStorage.setItem(`${KEY}:history`, JSON.stringify(history.slice(-MOST_STEPS)));
    localStorage.setItem("skpresto-audit:reviewer", reviewer());
  } catch {
    $("storage-note").hidden = false;
  }
}

const reviewer = () => $("reviewer").value.trim();
const decisionOf = (item) => decisions.get(items.row[item]);
const answerOf = (item) => answers.get(items.row[item]);
const shownOf = (item) => (state.view === "controls" ? answerOf(item) : decisionOf(item));
const givenOf = (item) => classes[items.given[item]];
const spelledOf = (item) => (items.spelled ? items.spelled[item] : givenOf(item));
const suggestedOf = (item) => classes[items.suggested[item]];
const isChanged = (item) => {
  const made = decisionOf(item);
  return Boolean(made) && made.label !== null && made.label !== givenOf(item);
};
/* A label that was accepted or kept may be another class now, if the decision comes from another audit. */
const kindOf = (item, { decision, label }) => {
  const expected = { keep: givenOf(item), accept: suggestedOf(item) }[decision];
  return label === null || expected === undefined || expected === label ? decision : "other";
};
const inWords = (made) => (KINDS[made.decision] === "changed" ? `changed to ${made.label}` : KINDS[made.decision]);

/* Classes that were made on this page. */
const newClasses = () => [...new Set([...decisions.values()].filter((d) => d.decision === "other" && !classes.includes(d.label)).map((d) => d.label))];

function decide(item, decision, label, further = {}) {
  remember([items.row[item]]);
  set(item, decision, label, further);
  store();
  showTotals();
  announce(`${items.name[item]}: ${inWords(decisionOf(item))}`);
}

function decideAll(many, decision, further) {
  remember(many.map((item) => items.row[item]));
  for (const item of many) set(item, decision, null, further);
  store();
  render();
  announce(`${labelsOf(many.length)}: ${decision === "keep" ? "kept" : "changed to the suggestion"}`);
}

function set(item, decision, label, further) {
  const row = items.row[item];
  const made = { decision, label: { keep: givenOf(item), accept: suggestedOf(item), other: label }[decision] ?? null };
  const before = decisions.get(row) || {};
  if (state.view === "controls") answers.set(row, made);
  decisions.set(row, {
    ...made,
    ...(reviewer() && { by: reviewer() }),
    ...(before.comment && { comment: before.comment }),
    ...(before.opinions && { opinions: before.opinions, settled: true }),
    ...further,
  });
}

function remember(rows, further = {}) {
  history.push({ before: rows.map((row) => [row, decisions.get(row), answers.get(row)]), ...further });
}

function undo() {
  const last = history.pop();
  if (!last) return announce("There is no decision to take back.");
  const put = (map, row, value) => (value ? map.set(row, value) : map.delete(row));
  for (const [row, made, answer] of last.before) {
    put(decisions, row, made);
    put(answers, row, answer);
  }
  if (last.elsewhere) elsewhere = new Map(last.elsewhere);
  store();
  showSpellings();
  const place = last.before.length === 1 ? state.order.findIndex((item) => items.row[item] === last.before[0][0]) : -1;
  render();
  if (place >= 0) goTo(place);
  announce(last.before.length > 1 ? `${whole(last.before.length)} decisions taken back` : "Decision taken back");
}

/* Says what happened, beside the list and to screen readers. */
function announce(text) {
  $("announce").textContent = text;
  $("undo").disabled = !history.length;
}
