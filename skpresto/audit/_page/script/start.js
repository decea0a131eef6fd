// Keys and buttons, and the first look.

$("list").addEventListener("click", (event) => {
  const card = event.target.closest(".card");
  if (!card) return;
  const button = event.target.closest("[data-decision]");
  const place = Number(card.dataset.place);
  if (button) choose(place, button.dataset.decision);
  else if (!String(window.getSelection())) goTo(place);
});

$("list").addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const moves = {
    ArrowDown: () => goTo(state.active + 1),
    ArrowUp: () => goTo(state.active - 1),
    ArrowRight: () => turnPage(1),
    ArrowLeft: () => turnPage(-1),
    Home: () => goTo(0),
    End: () => goTo(state.order.length - 1),
    z: undo,
  };
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const card = event.target.closest(".card");
  if (card) state.active = Number(card.dataset.place);
  if (moves[key]) moves[key]();
  else if (KEYS[key]) choose(state.active, KEYS[key]);
  else return;
  event.preventDefault();
});

for (const end of ["", "-below"]) {
  $(`previous${end}`).addEventListener("click", () => turnPage(-1));
  $(`next${end}`).addEventListener("click", () => turnPage(1));
}
$("start").addEventListener("click", () => {
  const open = state.order.findIndex((item) => !shownOf(item));
  goTo(open < 0 ? 0 : open);
});
for (const name of ["given", "suggested", "status"]) {
  $(`filter-${name}`).addEventListener("change", (event) => filter({ [name]: event.target.value }));
}
$("sort").addEventListener("change", (event) => filter({ sort: event.target.value }));
$("blind").addEventListener("change", render);
$("reset-filters").addEventListener("click", () => filter({ given: "", suggested: "", status: "" }));
$("tab-suspects").addEventListener("click", () => show("suspects"));
$("tab-controls").addEventListener("click", () => show("controls"));
$("go-controls").addEventListener("click", () => {
  show("controls");
  goTo(Math.max(state.order.findIndex((item) => !shownOf(item)), 0));
});
for (const button of document.querySelectorAll("[data-given]")) {
  button.addEventListener("click", () => {
    const isOn = button.getAttribute("aria-pressed") === "true";
    const { given, suggested = "" } = button.dataset;
    filter({ view: "suspects", status: "", given: isOn ? "" : given, suggested: isOn ? "" : suggested });
    $("review").scrollIntoView();
  });
}
$("export-json").addEventListener("click", exportJson);
$("export-csv").addEventListener("click", exportCsv);
$("load").addEventListener("change", (event) => {
  if (event.target.files.length) load(event.target.files[0]);
  event.target.value = "";
});
$("clear").addEventListener("click", () => {
  if (!(decisions.size + answers.size) || !window.confirm(`Forget all ${whole(decisions.size)} decisions?`)) return;
  decisions = new Map();
  answers = new Map();
  store();
  refresh();
});
window.addEventListener("storage", (event) => {
  if (event.key === KEY || event.key === `${KEY}:control`) { restore(); render(); showSpellings(); }
});

const usedBy = (field) => new Set(data.suspects.map((item) => items[field][item]));
fillSelect($("filter-given"), usedBy("given"));
fillSelect($("filter-suggested"), usedBy("suggested"));
restore();
refresh();
