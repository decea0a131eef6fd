"use strict";
(() => {
  document.documentElement.classList.add("js");
  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($("data").textContent);
  const { items, classes } = data;
  const PAGE_SIZE = 25;
  const KEY = `skpresto-audit:${data.fingerprint}`;
  const LEVELS = "0123456789abcdefghijklmnopqrstuvwxyz";
  const KEYS = { k: "keep", a: "accept", o: "other", u: "unsure" };
  const whole = (n) => n.toLocaleString("en-US");

  // ---- Decisions: row -> {decision, label}; kept in this browser ----

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

  // ---- The list: filtered, ordered, one page at a time ----

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
    fillLine(card.querySelector(".spark"), item);
    showDecision(card, item);
    return card;
  }

  const quality = (value) => (value >= 0.001 ? value.toFixed(3) : value.toExponential(1));

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
    const isControl = state.view === "controls";
    card.classList.toggle("decided", Boolean(made));
    card.classList.toggle("blind", isControl || (!made && $("blind").checked));
    for (const button of card.querySelectorAll("[data-decision]")) {
      button.setAttribute("aria-pressed", String(Boolean(made) && made.decision === button.dataset.decision));
    }
    card.querySelector(".other-name").textContent = made && made.decision === "other" ? made.label : "Other…";
    card.querySelector("[data-decision=accept]").disabled = isControl;
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

  // ---- Another class, from a dialog ----

  let whenChosen = null;

  function askForClass(item, then) {
    whenChosen = then;
    $("class-search").value = "";
    listClasses(items.given[item]);
    $("classes-dialog").showModal();
    $("class-search").focus();
  }

  function listClasses(without) {
    const wanted = $("class-search").value.toLowerCase();
    const list = $("class-list");
    if (without !== undefined) list.dataset.without = without;
    const options = [];
    classes.forEach((name, i) => {
      if (i === Number(list.dataset.without) || !name.toLowerCase().includes(wanted)) return;
      options.push(new Option(name, i));
    });
    list.replaceChildren(...options);
    if (options.length) list.selectedIndex = 0;
  }

  $("class-search").addEventListener("input", () => listClasses());
  $("class-search").addEventListener("keydown", (event) => {
    const list = $("class-list");
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    list.selectedIndex = Math.min(Math.max(list.selectedIndex + step, 0), list.length - 1);
  });
  $("class-list").addEventListener("dblclick", () => $("classes-dialog").close("choose"));
  $("classes-dialog").addEventListener("close", () => {
    const chosen = $("class-list").value;
    const then = whenChosen;
    whenChosen = null;
    if ($("classes-dialog").returnValue === "choose" && chosen !== "" && then) then(classes[chosen]);
    else goTo(state.active);
    $("classes-dialog").returnValue = "";
  });

  // ---- Filters ----

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

  // ---- Totals, and what the control sample says about the audit ----

  function showTotals() {
    const shown = state.view === "controls" ? data.controls : data.suspects;
    const nDone = shown.filter(shownOf).length;
    $("progress").max = Math.max(shown.length, 1);
    $("progress").value = nDone;
    $("start").textContent = nDone ? "Continue review" : "Start review";
    $("progress-text").textContent = `${whole(nDone)} of ${whole(shown.length)} decided`;
    const all = items.row.map((_, item) => item).filter(decisionOf);
    const count = (test) => whole(all.filter(test).length);
    $("n-decided").textContent = whole(all.length);
    $("n-changed").textContent = count(isChanged);
    $("n-unsure").textContent = count((item) => decisionOf(item).decision === "unsure");
    $("n-kept").textContent = count((item) => decisionOf(item).label === givenOf(item));
    showControl();
  }

  // ---- Numbers of wrong labels, from the answers to the control sample ----

  const { live } = data;

  /* The probability that a standard normal value is below z (Abramowitz and Stegun 7.1.26). */
  function normalBelow(z) {
    const t = 1 / (1 + 0.3275911 * Math.abs(z) / Math.SQRT2);
    const series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
    const above = 0.5 * series * Math.exp((-z * z) / 2);
    return z < 0 ? above : 1 - above;
  }

  /* Answers by row: [score, is wrong]; those of the page replace earlier ones. */
  function checkedLabels() {
    const found = new Map(live.checked.map(([, score, isWrong], i) => [data.rowsChecked[i], [score, isWrong]]));
    for (const item of data.controls) {
      const made = answerOf(item);
      if (!made) continue;
      if (made.decision === "unsure") found.delete(items.row[item]);
      else found.set(items.row[item], [live.scores[item], made.label !== givenOf(item)]);
    }
    return [...found.values()];
  }

  /* Probabilities of the curves, given the answers. */
  function weightsAfter(checked) {
    const logs = live.level.map((level, g) => {
      let likelihood = 0;
      for (const [score, isWrong] of checked) {
        const p = live.mistakes + (1 - 2 * live.mistakes) / (1 + Math.exp(-level - live.slope[g] * score));
        likelihood += Math.log(isWrong ? p : 1 - p);
      }
      return Math.log(Math.max(live.weight[g], 1e-300)) + live.trust * likelihood;
    });
    const highest = Math.max(...logs);
    const weights = logs.map((log) => Math.exp(log - highest));
    const total = weights.reduce((a, b) => a + b, 0);
    return weights.map((weight) => weight / total);
  }

  /* Expected number of wrong labels, and the ends of a 90 % interval. */
  function estimate(name, weights, nChecked) {
    const means = live.sums[name];
    const deviations = live.variances[name].map((v) => Math.sqrt(v) + 1e-6);
    const expected = means.reduce((sum, mean, g) => sum + weights[g] * mean, 0);
    const quantile = (tail) => {
      let low = Math.min(...means.map((mean, g) => mean - 5 * deviations[g]));
      let high = Math.max(...means.map((mean, g) => mean + 5 * deviations[g]));
      for (let step = 0; step < 45; step += 1) {
        const middle = (low + high) / 2;
        const below = means.reduce((sum, mean, g) => sum + weights[g] * normalBelow((middle - mean) / deviations[g]), 0);
        if (below < tail) low = middle; else high = middle;
      }
      return (low + high) / 2;
    };
    const isKnown = live.tells || nChecked >= live.enough;
    const low = isKnown ? Math.max(Math.floor(Math.min(quantile(0.05), expected)), 0) : 0;
    const high = Math.min(Math.ceil(Math.max(quantile(0.95), expected)), live.sizes[name]);
    return { expected, low, high: Math.max(high, 0), n: live.sizes[name] };
  }

  function showControl() {
    const checked = checkedLabels();
    const parts = ["precision", "misses", "first", "total"];
    if (!checked.length) {
      $("headline-live").hidden = true;
      for (const id of parts) $(id).textContent = id === "precision" ? "Decide labels of the control sample to find out which fraction of the suspects is really wrong." : "";
      return;
    }
    const percent = (x) => `${(100 * x).toFixed(x < 0.0995 ? 1 : 0)} %`;
    const weights = weightsAfter(checked);
    const found = Object.fromEntries(Object.keys(live.sizes).map((name) => [name, estimate(name, weights, checked.length)]));
    document.body.dataset.live = JSON.stringify(found);
    const about = ({ expected, low, high }) => `about ${whole(Math.round(expected))} (90 % interval ${whole(low)} to ${whole(high)})`;
    const { suspects, first, all, accepted } = found;
    const basis = `After ${whole(checked.length)} checked ${checked.length === 1 ? "label" : "labels"}`;
    $("precision").textContent = suspects.n ? `${basis}, ${percent(suspects.expected / suspects.n)} of the ${whole(suspects.n)} suspects are wrong (90 % interval ${percent(suspects.low / suspects.n)} to ${percent(suspects.high / suspects.n)}).` : `${basis}.`;
    $("misses").textContent = `Of the ${whole(accepted.n)} accepted labels, ${about(accepted)} are wrong.`;
    $("first").textContent = `Of the ${whole(first.n)} most suspect labels, ${about(first)} are wrong.`;
    $("total").textContent = `Of all ${whole(all.n)} labels, ${about(all)} are wrong.`;
    for (const id of parts) $(id).hidden = false;
    $("headline-live").hidden = false;
    $("headline-live").textContent = `${basis}: ${about(all)} of all labels are wrong, and ${about(suspects)} of the suspects.`;
  }

  // ---- The table of classes, in the order of a column ----

  for (const button of document.querySelectorAll(".classes .sort")) {
    button.addEventListener("click", () => {
      const head = button.closest("th");
      const column = Number(button.dataset.column);
      const direction = head.getAttribute("aria-sort") === "descending" ? 1 : -1;
      for (const other of head.parentElement.children) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
      const body = head.closest("table").tBodies[0];
      const name = (row) => row.cells[0].textContent.trim();
      const value = (row) => Number(row.cells[column].dataset.value);
      const rows = [...body.rows].sort((a, b) => direction * (column ? value(a) - value(b) : name(a).localeCompare(name(b))));
      body.replaceChildren(...rows);
    });
  }

  function announce(text) {
    $("announce").textContent = text;
  }

  // ---- Spellings: one decision per class, kept as "spelling:<class>" ----

  const groups = [...document.querySelectorAll(".spelling")];
  const variantsOf = (group) => data.spellings[groups.indexOf(group)];
  const spellingKey = (group) => `spelling:${variantsOf(group).label}`;

  function decideSpelling(group, decision) {
    const boxes = [...group.querySelectorAll("input")];
    const accepted = variantsOf(group).given.filter((_, i) => boxes[i].checked);
    const key = spellingKey(group);
    history.push([key, decisions.get(key)]);
    if (decision === "unsure") decisions.delete(key);
    else decisions.set(key, { decision, accepted });
    store();
    showSpellings();
    announce({ accept: "written as the class", keep: "kept", unsure: "undecided" }[decision]);
  }

  function showSpellings() {
    for (const group of groups) {
      const made = decisions.get(spellingKey(group));
      group.classList.toggle("decided", Boolean(made));
      for (const button of group.querySelectorAll("[data-spelling]")) {
        button.setAttribute("aria-pressed", String(Boolean(made) && made.decision === button.dataset.spelling));
      }
      if (!made) continue;
      const { given } = variantsOf(group);
      group.querySelectorAll("input").forEach((box, i) => { box.checked = made.accepted.includes(given[i]); });
    }
  }

  function goToGroup(place) {
    const group = groups[Math.min(Math.max(place, 0), groups.length - 1)];
    groups.forEach((other) => { other.tabIndex = other === group ? 0 : -1; });
    group.focus();
  }

  /* The spellings to be written as their class: [{given, label}]. */
  function respelled() {
    return groups.flatMap((group) => {
      const made = decisions.get(spellingKey(group));
      if (!made || made.decision !== "accept") return [];
      return made.accepted.map((given) => ({ given, label: variantsOf(group).label }));
    });
  }

  function loadSpellings(loaded) {
    const accepted = new Set(loaded.map((pair) => pair.given));
    for (const group of groups) {
      const given = variantsOf(group).given.filter((spelling) => accepted.has(spelling));
      if (given.length) decisions.set(spellingKey(group), { decision: "accept", accepted: given });
    }
  }

  for (const group of groups) {
    const place = groups.indexOf(group);
    group.addEventListener("click", (event) => {
      const button = event.target.closest("[data-spelling]");
      if (button) decideSpelling(group, button.dataset.spelling);
    });
    group.addEventListener("change", () => {
      if (decisions.has(spellingKey(group))) decideSpelling(group, "accept");
    });
    group.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
      const acts = {
        ArrowDown: () => goToGroup(place + 1),
        ArrowUp: () => goToGroup(place - 1),
        a: () => { decideSpelling(group, "accept"); goToGroup(place + 1); },
        k: () => { decideSpelling(group, "keep"); goToGroup(place + 1); },
        u: () => decideSpelling(group, "unsure"),
        z: undo,
      };
      if (!acts[key]) return;
      acts[key]();
      event.preventDefault();
    });
  }

  // ---- Export and import ----

  /* What the control sample tells about a label; nothing unless it was decided there. */
  function answerRecord(item) {
    const answer = answerOf(item);
    if (!answer) return {};
    return { control: answer, wrong: answer.label === null ? null : answer.label !== givenOf(item) };
  }

  function records() {
    return items.row
      .map((row, item) => ({ item, made: decisions.get(row) }))
      .filter(({ made }) => made)
      .sort((a, b) => items.row[a.item] - items.row[b.item])
      .map(({ item, made }) => ({
        row: items.row[item],
        name: items.name[item],
        given: spelledOf(item),
        suggested: suggestedOf(item),
        decision: made.decision,
        ...answerRecord(item),
        label: made.label === givenOf(item) ? spelledOf(item) : made.label,
      }));
  }

  function save(name, type, text) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  function exportJson() {
    const { title, kind, label, fingerprint } = data;
    const content = {
      format: "skpresto decisions",
      version: respelled().length ? 2 : 1,
      source: title,
      kind,
      label,
      fingerprint,
      exported: new Date().toISOString(),
      decisions: records(),
      ...(respelled().length ? { spellings: respelled() } : {}),
    };
    save("decisions.json", "application/json", JSON.stringify(content, null, 1));
  }

  /* A spreadsheet must not take a text for a formula. */
  function cell(value) {
    let text = value === null ? "" : String(value);
    if (typeof value === "string" && /^[=+\-@\t\r]/.test(text)) text = `'${text}`;
    return /[",\n\r;\t]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  }

  function exportCsv() {
    const names = ["row", "name", "given", "suggested", "decision", "label"];
    const lines = records().map((record) => names.map((name) => cell(record[name])).join(","));
    save("decisions.csv", "text/csv", [names.join(","), ...lines, ""].join("\r\n"));
  }

  async function load(file) {
    let content;
    try {
      content = JSON.parse(await file.text());
    } catch {
      content = {};
    }
    if (content.fingerprint !== data.fingerprint || !Array.isArray(content.decisions)) {
      window.alert("These are not decisions about this data.");
      return;
    }
    for (const { row, decision, label, control } of content.decisions) {
      if (control) answers.set(row, control);
      const item = items.row.indexOf(row);
      const isSpelled = item >= 0 && label === spelledOf(item);
      decisions.set(row, { decision, label: isSpelled ? givenOf(item) : label });
    }
    if (Array.isArray(content.spellings)) loadSpellings(content.spellings);
    store();
    refresh();
    announce(`${whole(content.decisions.length)} decisions loaded`);
  }

  // ---- Events ----

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
})();
