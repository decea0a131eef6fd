// The list: filtered, ordered, one page at a time.

const state = { view: "suspects", given: "", suggested: "", status: "", sort: "rank", order: [], active: 0 };

function hasStatus(item) {
  const made = shownOf(item);
  if (state.status === "open") return !made;
  if (state.status === "done") return Boolean(made);
  if (state.status === "changed") return isChanged(item);
  if (state.status === "unsure") return Boolean(made) && made.decision === "unsure";
  return true;
}

const KEY_OF = {
  row: (item) => items.row[item],
  given: (item) => items.given[item],
  suggested: (item) => items.suggested[item],
};

function refresh() {
  if (state.view === "controls") {
    state.order = data.controls.filter(hasStatus);
  } else {
    state.order = data.suspects.filter((item) =>
      (state.given === "" || items.given[item] === Number(state.given)) &&
      (state.suggested === "" || items.suggested[item] === Number(state.suggested)) &&
      hasStatus(item));
    const key = KEY_OF[state.sort];
    if (key) state.order = state.order.slice().sort((a, b) => key(a) - key(b));
  }
  state.active = 0;
  showFilters();
  showSpellings();
  render();
}

const firstOfPage = () => state.active - (state.active % PAGE_SIZE);

function render() {
  const first = firstOfPage();
  const shown = state.order.slice(first, first + PAGE_SIZE);
  const cards = shown.map((item, i) => makeCard(item, first + i));
  $("list").replaceChildren(...cards);
  $("list").start = first + 1;
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
  const target = firstOfPage() + step * PAGE_SIZE;
  if (target < 0 || target >= state.order.length) return;
  state.active = target;
  render();
  goTo(target);
}

function choose(place, decision) {
  const item = state.order[place];
  if (decision === "accept" && cardAt(place).classList.contains("blind")) return;
  if (decision === "other") {
    askForClass(item, (label) => settle(place, item, "other", label));
  } else {
    settle(place, item, decision, null);
  }
}

function settle(place, item, decision, label) {
  const wasBlind = cardAt(place).classList.contains("blind") && state.view === "suspects";
  decide(item, decision, label);
  showDecision(cardAt(place), item);
  // A suggestion that has just been revealed should be seen before going on.
  goTo(wasBlind || place === state.order.length - 1 ? place : place + 1);
}
