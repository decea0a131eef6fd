// The list: filtered, ordered, one page at a time.

const state = { view: "suspects", given: "", suggested: "", status: "", words: [], below: "", sort: "rank", among: [], order: [], active: 0, grid: false };

const pageSize = () => (state.grid ? 60 : 25);

function hasStatus(item) {
  const made = shownOf(item);
  const tests = {
    open: () => !made,
    done: () => Boolean(made),
    changed: () => isChanged(item),
    unsure: () => Boolean(made) && made.decision === "unsure",
    discarded: () => Boolean(made) && made.decision === "discard",
    bulk: () => Boolean(made) && Boolean(made.bulk),
    comment: () => Boolean(made) && Boolean(made.comment),
    differ: () => isDisputed(item),
  };
  return state.status === "" || tests[state.status]();
}

/* What a search looks at: never what is suggested, which may be hidden. */
const texts = [];
function textOf(item) {
  if (texts[item] === undefined) {
    const values = items.features ? items.features[item].map(([name, value]) => `${name} ${value}`) : [];
    texts[item] = [items.name[item], spelledOf(item), givenOf(item), items.text ? items.text[item] : "", ...values].join("\n").toLowerCase();
  }
  return texts[item];
}

const isListed = (item) =>
  (state.given === "" || items.given[item] === Number(state.given)) &&
  (state.suggested === "" || items.suggested[item] === Number(state.suggested)) &&
  (state.below === "" || items.quality[item] < Number(state.below)) &&
  state.words.every((word) => textOf(item).includes(word));

const KEY_OF = {
  row: (item) => items.row[item],
  given: (item) => items.given[item],
  suggested: (item) => items.suggested[item],
};

function refresh() {
  if (state.view === "controls") {
    // A search among them would not be a random sample.
    state.among = data.controls;
  } else {
    const pool = state.status === "differ" ? items.row.map((_, item) => item).filter(isDiffering) : data.suspects;
    state.among = pool.filter(isListed);
  }
  state.order = state.among.filter(hasStatus);
  const key = state.view === "suspects" && KEY_OF[state.sort];
  if (key) state.order.sort((a, b) => key(a) - key(b));
  state.active = 0;
  showFilters();
  showSpellings();
  render();
}

const firstOfPage = () => state.active - (state.active % pageSize());
const openPlace = () => Math.max(state.order.findIndex((item) => !shownOf(item)), 0);

function render() {
  const first = firstOfPage();
  const shown = state.order.slice(first, first + pageSize());
  const cards = shown.map((item, i) => makeCard(item, first + i));
  $("list").replaceChildren(...cards);
  $("list").start = first + 1;
  $("list").classList.toggle("grid", state.grid);
  $("empty").hidden = shown.length > 0;
  const last = first + shown.length;
  const text = shown.length ? `${whole(first + 1)}–${whole(last)} of ${whole(state.order.length)}` : "none";
  for (const end of ["", "-below"]) {
    $(`page-text${end}`).textContent = text;
    $(`previous${end}`).disabled = first === 0;
    $(`next${end}`).disabled = last >= state.order.length;
  }
  showTotals();
}

const cardAt = (place) => $("list").querySelector(`[data-place="${place}"]`);

function goTo(place) {
  if (!state.order.length) return;
  const target = Math.min(Math.max(place, 0), state.order.length - 1);
  const before = firstOfPage();
  const old = cardAt(state.active);
  if (old) old.tabIndex = -1;
  state.active = target;
  if (firstOfPage() !== before || !cardAt(target)) render();
  const card = cardAt(target);
  card.tabIndex = 0;
  card.focus({ preventScroll: true });
  card.scrollIntoView({ block: "nearest" });
}

function turnPage(step) {
  const target = firstOfPage() + step * pageSize();
  if (target < 0 || target >= state.order.length) return;
  state.active = target;
  render();
  goTo(target);
}

function choose(place, decision) {
  const item = state.order[place];
  if (decision === "comment") askForComment(item);
  else if (decision === "other") askForClass(item, (label) => settle(place, item, "other", label));
  else if (decision === "accept" && isBlind(item)) announce("A suggestion that is hidden cannot be accepted.");
  else settle(place, item, decision, null);
}

function settle(place, item, decision, label) {
  const wasBlind = isBlind(item) && state.view === "suspects";
  decide(item, decision, label);
  showDecision(cardAt(place), item);
  // A suggestion that has just been revealed should be seen before going on.
  goTo(wasBlind || place === state.order.length - 1 ? place : place + 1);
}
