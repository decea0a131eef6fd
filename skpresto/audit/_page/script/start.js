// Keys and buttons, and the first look.

const DECIDING = { k: "keep", a: "accept", o: "other", u: "unsure", d: "discard", c: "comment" };

function moves(key) {
  const [across, down] = state.grid ? [1, nColumns()] : [0, 1];
  return {
    ArrowDown: () => goTo(state.active + down),
    ArrowUp: () => goTo(state.active - down),
    ArrowRight: () => (across ? goTo(state.active + 1) : turnPage(1)),
    ArrowLeft: () => (across ? goTo(state.active - 1) : turnPage(-1)),
    PageDown: () => turnPage(1),
    PageUp: () => turnPage(-1),
    Home: () => goTo(0),
    End: () => goTo(state.order.length - 1),
  }[key];
}

function everywhere(key, isShifted) {
  if (isShifted && (key === "a" || key === "k")) return () => askForAll(DECIDING[key]);
  return { "?": () => $("keys-dialog").showModal(), "/": () => $("search").focus(), z: undo, g: toggleGrid }[key];
}

/* A key that decides shows first what it would decide about. */
function enter(key) {
  if (!state.order.length) return announce("No labels are listed, so there is nothing to decide.");
  goTo(openPlace());
  announce(`This is the label in question: press ${key.toUpperCase()} again to decide.`);
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (event.target.closest("dialog, select, textarea, input:not([type=checkbox])")) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const card = event.target.closest("#list .card");
  if (card) state.active = Number(card.dataset.place);
  const act = everywhere(key, event.shiftKey) || (card ? moves(key) : undefined);
  if (act) act();
  else if (DECIDING[key] || key === "v") {
    if (!card) enter(key);
    else if (key === "v") enlarge(state.active);
    else choose(state.active, DECIDING[key]);
  } else return;
  event.preventDefault();
});

$("list").addEventListener("click", (event) => {
  const card = event.target.closest(".card");
  if (!card) return;
  const button = event.target.closest("[data-decision]");
  const place = Number(card.dataset.place);
  if (button) {
    state.active = place;
    choose(place, button.dataset.decision);
  } else if (!String(window.getSelection())) {
    goTo(place);
    if (event.target.closest(".thumb")) enlarge(place);
  }
});

for (const end of ["", "-below"]) {
  $(`previous${end}`).addEventListener("click", () => turnPage(-1));
  $(`next${end}`).addEventListener("click", () => turnPage(1));
}
$("start").addEventListener("click", () => goTo(openPlace()));
$("undo").addEventListener("click", undo);
$("go-controls").addEventListener("click", () => {
  show("controls");
  goTo(openPlace());
});
window.addEventListener("storage", (event) => {
  if (event.key && event.key.startsWith(KEY)) { restore(); render(); showSpellings(); }
});

const usedBy = (field) => new Set(data.suspects.map((item) => items[field][item]));
fillSelect($("filter-given"), usedBy("given"));
fillSelect($("filter-suggested"), usedBy("suggested"));
restore();
refresh();
announce("");
