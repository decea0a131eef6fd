// What was decided: row -> {decision, label}, kept in this browser.

document.documentElement.classList.add("js");
const $ = (id) => document.getElementById(id);
const data = JSON.parse($("data").textContent);
const { items, classes } = data;
const PAGE_SIZE = 25;
const KEY = `skpresto-audit:${data.fingerprint}`;
const LEVELS = "0123456789abcdefghijklmnopqrstuvwxyz";
const KEYS = { k: "keep", a: "accept", o: "other", u: "unsure" };
const whole = (n) => n.toLocaleString("en-US");

let decisions = new Map();
/* Answers given in the control view: only these are a random sample. */
let answers = new Map();
const history = [];
const isDecision = ([, d]) => d && d.decision in { keep: 1, accept: 1, other: 1, unsure: 1 };

function restore() {
  try {
    const stored = JSON.parse(localStorage.getItem(KEY) || "[]");
    decisions = new Map(stored.filter(isDecision));
    answers = new Map(JSON.parse(localStorage.getItem(`${KEY}:control`) || "[]").filter(isDecision));
  } catch {
    decisions = new Map();
    answers = new Map();
  }
}

function store() {
  try {
    localStorage.setItem(KEY, JSON.stringify([...decisions]));
    localStorage.setItem(`${KEY}:control`, JSON.stringify([...answers]));
  } catch {
    $("storage-note").hidden = false;
  }
}

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

function decide(item, decision, label) {
  const row = items.row[item];
  history.push([row, decisions.get(row), answers.get(row)]);
  const labels = { keep: givenOf(item), accept: suggestedOf(item), other: label, unsure: null };
  decisions.set(row, { decision, label: labels[decision] });
  if (state.view === "controls") answers.set(row, { decision, label: labels[decision] });
  store();
  showTotals();
  const said = { keep: "kept", accept: `changed to ${labels.accept}`, other: `changed to ${label}`, unsure: "unsure" };
  announce(`${items.name[item]}: ${said[decision]}`);
}

function undo() {
  const last = history.pop();
  if (!last) return;
  const [row, before, answerBefore] = last;
  if (before) decisions.set(row, before);
  else decisions.delete(row);
  if (answerBefore) answers.set(row, answerBefore);
  else answers.delete(row);
  store();
  showTotals();
  showSpellings();
  announce("Decision taken back");
  if (typeof row === "string") return;
  const place = state.order.findIndex((item) => items.row[item] === row);
  if (place >= 0) goTo(place);
  else render();
}
