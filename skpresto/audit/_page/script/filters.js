// What the list shows.

function fillSelect(select, used) {
  const options = [new Option("all", "")];
  classes.forEach((name, i) => { if (used.has(i)) options.push(new Option(name, i)); });
  select.replaceChildren(...options);
}

const NO_FILTER = { given: "", suggested: "", status: "", words: [], below: "" };
const isFiltered = () => Boolean(state.given || state.suggested || state.status || state.words.length || state.below);

function showFilters() {
  const isControl = state.view === "controls";
  for (const name of ["given", "suggested", "status", "below"]) $(`filter-${name}`).value = state[name];
  if (!state.words.length) $("search").value = "";
  $("sort").value = state.sort;
  for (const id of ["filter-given", "filter-suggested", "filter-below", "search", "sort", "blind"]) $(id).disabled = isControl;
  $("reset-filters").hidden = !isFiltered();
  $("tab-suspects").setAttribute("aria-pressed", String(!isControl));
  $("tab-controls").setAttribute("aria-pressed", String(isControl));
  $("grid").setAttribute("aria-pressed", String(state.grid));
  $("control-note").hidden = !isControl;
  for (const button of document.querySelectorAll("[data-given]")) {
    const isOn = !isControl && state.given === button.dataset.given && state.suggested === (button.dataset.suggested || "");
    button.setAttribute("aria-pressed", String(isOn));
  }
}

function filter(changes) {
  Object.assign(state, changes);
  refresh();
  announce(`${labelsOf(state.order.length)} listed`);
}

function show(view) {
  filter({ ...NO_FILTER, view });
}

function toggleGrid() {
  if (!items.image) return announce("A grid is for images, of which this page has none.");
  state.grid = !state.grid;
  showFilters();
  render();
  goTo(state.active);
}

/* How many cards stand beside each other. */
function nColumns() {
  const cards = [...$("list").children];
  return cards.filter((card) => card.offsetTop === cards[0].offsetTop).length || 1;
}

for (const name of ["given", "suggested", "status"]) {
  $(`filter-${name}`).addEventListener("change", (event) => filter({ [name]: event.target.value }));
}
$("filter-below").addEventListener("input", (event) => filter({ below: event.target.value }));
$("search").addEventListener("input", (event) => {
  filter({ words: event.target.value.toLowerCase().split(/\s+/).filter(Boolean) });
});
for (const id of ["search", "filter-below"]) {
  $(id).addEventListener("keydown", (event) => { if (event.key === "Enter") goTo(openPlace()); });
}
$("sort").addEventListener("change", (event) => filter({ sort: event.target.value }));
$("blind").addEventListener("change", render);
$("grid").addEventListener("click", toggleGrid);
$("reset-filters").addEventListener("click", () => filter(NO_FILTER));
$("tab-suspects").addEventListener("click", () => show("suspects"));
$("tab-controls").addEventListener("click", () => show("controls"));
for (const button of document.querySelectorAll("[data-given]")) {
  button.addEventListener("click", () => {
    const isOn = button.getAttribute("aria-pressed") === "true";
    const { given, suggested = "" } = button.dataset;
    filter({ ...NO_FILTER, view: "suspects", given: isOn ? "" : given, suggested: isOn ? "" : suggested });
    $("review").scrollIntoView();
  });
}
