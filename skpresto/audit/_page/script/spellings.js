// Spellings: one decision per class, kept as "spelling:<class>".

const groups = [...document.querySelectorAll(".spelling")];
const variantsOf = (group) => data.spellings[groups.indexOf(group)];
const spellingKey = (group) => `spelling:${variantsOf(group).label}`;

function decideSpelling(group, decision) {
  const boxes = [...group.querySelectorAll("input")];
  const accepted = variantsOf(group).given.filter((_, i) => boxes[i].checked);
  const key = spellingKey(group);
  remember([key]);
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
    };
    if (!acts[key]) return;
    acts[key]();
    event.preventDefault();
  });
}
