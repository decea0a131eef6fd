// One label: what is shown of it, and what was decided.

const LEVELS = "0123456789abcdefghijklmnopqrstuvwxyz";
const quality = (value) => (value >= 0.001 ? value.toFixed(3) : value.toExponential(1));
const isBlind = (item) => state.view === "controls" || (!shownOf(item) && $("blind").checked);

function makeCard(item, place) {
  const card = $("card").content.firstElementChild.cloneNode(true);
  const set = (selector, text) => card.querySelectorAll(selector).forEach((node) => { node.textContent = text; });
  card.dataset.place = place;
  card.tabIndex = place === state.active ? 0 : -1;
  card.setAttribute("aria-label", `${items.name[item]}, given ${givenOf(item)}`);
  set(".name", items.name[item]);
  set(".label.given, .given-name", givenOf(item));
  if (spelledOf(item) !== givenOf(item)) set(".spelled", `spelled “${spelledOf(item)}”`);
  set(".label.suggested, .suggested-name", suggestedOf(item));
  set(".quality", quality(items.quality[item]));
  set(".text", items.text ? items.text[item] : "");
  fillImage(card.querySelector(".thumb"), item);
  fillFeatures(card.querySelector(".features"), item);
  fillLine(card.querySelector(".spark svg"), item);
  fillSimilar(card.querySelector(".similar"), item);
  showDecision(card, item);
  return card;
}

function fillImage(image, item) {
  if (!image) return;
  image.addEventListener("load", () => image.classList.toggle("coarse", image.naturalHeight < 64));
  image.src = items.image[item];
  image.alt = items.name[item];
}

function fillFeatures(table, item) {
  if (!table) return;
  const rows = items.features[item].map((values) => {
    const row = document.createElement("tr");
    values.forEach((value, i) => {
      const cell = document.createElement(i ? "td" : "th");
      cell.textContent = value;
      if (!i) cell.scope = "row";
      if (i > 1) cell.classList.add("typical");
      if (i > 2) cell.classList.add("spoiler");
      row.append(cell);
    });
    return row;
  });
  table.tBodies[0].replaceChildren(...rows);
  table.hidden = rows.length === 0;
}

function fillLine(svg, item) {
  if (!svg) return;
  const line = items.line[item];
  const step = 116 / Math.max(line.length - 1, 1);
  const points = [];
  [...line].forEach((c, i) => {
    if (c !== ".") points.push(`${(2 + step * i).toFixed(1)},${(2 + 24 * (1 - LEVELS.indexOf(c) / 35)).toFixed(1)}`);
  });
  svg.querySelector("polyline").setAttribute("points", points.join(" "));
  const level = (c) => (LEVELS.indexOf(c) / 35).toFixed(2);
  const known = line.replaceAll(".", "");
  if (known) svg.setAttribute("aria-label", `Probability of the given label: from ${level(known[0])} to ${level(known.at(-1))}`);
}

function showDecision(card, item) {
  const made = shownOf(item);
  card.classList.toggle("decided", Boolean(made));
  card.classList.toggle("blind", isBlind(item));
  for (const button of card.querySelectorAll("[data-decision]")) {
    const { decision } = button.dataset;
    button.setAttribute("aria-pressed", String(Boolean(made) && (decision === "comment" ? Boolean(made.comment) : decision === kindOf(item, made))));
  }
  card.querySelector(".other-name").textContent = made && kindOf(item, made) === "other" ? made.label : "Other…";
  card.querySelector("[data-decision=accept]").disabled = state.view === "controls";
  const said = card.querySelector(".said");
  // What others said must not be seen in the control view.
  said.textContent = made ? notesOn(made).join(" · ") : "";
  said.hidden = !said.textContent;
}

function notesOn(made) {
  const said = (one) => `${one.by}: ${inWords(one)}${one.comment ? ` “${one.comment}”` : ""}`;
  return [
    ...(made.comment ? [`“${made.comment}”`] : []),
    ...(made.bulk ? [`decided together: ${made.bulk}`] : []),
    ...(made.opinions || []).map(said),
  ];
}
