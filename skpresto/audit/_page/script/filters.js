// What the list shows.

function fillSelect(select, used) {
  const options = [new Option("all", "")];
  classes.forEach((name, i) => { if (used.has(i)) options.push(new Option(name, i)); });
  select.replaceChildren(...options);
}

function showFilters() {
  const isControl = state.view === "controls";
  for (const name of ["given", "suggested", "status"]) $(`filter-${name}`).value = state[name];
  $("sort").value = state.sort;
  for (const id of ["filter-given", "filter-suggested", "sort", "blind"]) $(id).disabled = isControl;
  $("reset-filters").hidden = !(state.given || state.suggested || state.status);
  $("tab-suspects").setAttribute("aria-pressed", String(!isControl));
  $("tab-controls").setAttribute("aria-pressed", String(isControl));
  $("control-note").hidden = !isControl;
  for (const button of document.querySelectorAll("[data-given]")) {
    const isOn = !isControl && state.given === button.dataset.given && state.suggested === (button.dataset.suggested || "");
    button.setAttribute("aria-pressed", String(isOn));
  }
}

function filter(changes) {
  Object.assign(state, changes);
  refresh();
  announce(`${whole(state.order.length)} labels listed`);
}

function show(view) {
  filter({ view, given: "", suggested: "", status: "" });
}
