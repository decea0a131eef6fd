// Another class, from a dialog: the most probable first, or one that does not exist yet.

let asked = null;
let offered = [];

function askForClass(item, then) {
  asked = { item, then };
  $("class-search").value = "";
  $("class-note").hidden = isBlind(item) || !items.likely;
  listClasses();
  // The suggestion has a key of its own.
  const first = offered.findIndex(({ label }) => isBlind(item) || label !== suggestedOf(item));
  $("class-list").selectedIndex = Math.max(first, 0);
  $("classes-dialog").showModal();
  $("class-search").focus();
}

/* Classes other than the given one, with probabilities unless these would give away a hidden suggestion. */
function classesFor(item) {
  const known = new Map();
  const likely = items.likely && !isBlind(item) ? items.likely[item] : [];
  for (let i = 0; i < likely.length; i += 2) known.set(classes[likely[i]], likely[i + 1] / 10);
  for (const label of [...classes, ...newClasses()]) if (!known.has(label)) known.set(label, null);
  known.delete(givenOf(item));
  return [...known].map(([label, percent]) => ({ label, percent }));
}

/* Never 100 %: the probabilities are not calibrated. */
const inPercent = (percent) => (percent >= 99.5 ? "> 99 %" : `${percent.toFixed(percent < 0.95 ? 1 : 0)} %`);

function listClasses() {
  const typed = $("class-search").value.trim();
  const all = classesFor(asked.item);
  offered = all.filter(({ label }) => label.toLowerCase().includes(typed.toLowerCase()));
  const isKnown = typed === givenOf(asked.item) || all.some(({ label }) => label === typed);
  if (typed && !isKnown) offered.push({ label: typed, isNew: true });
  const shown = ({ label, percent, isNew }) => (isNew ? `New class “${label}”` : percent ? `${label} · ${inPercent(percent)}` : label);
  $("class-list").replaceChildren(...offered.map((one, i) => new Option(shown(one), i)));
  if (offered.length) $("class-list").selectedIndex = 0;
  $("class-problem").textContent = "";
}

/* Why a class cannot be made, if it cannot: images of a class are in a folder with its name. */
function problemOf({ label, isNew }) {
  return isNew && data.kind === "images" && /^\.|[/\\]/.test(label) ? "A class of images is a folder: its name must not have a slash or begin with a dot." : "";
}

$("class-search").addEventListener("input", listClasses);
$("class-search").addEventListener("keydown", (event) => {
  const list = $("class-list");
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  list.selectedIndex = Math.min(Math.max(list.selectedIndex + step, 0), list.length - 1);
});
$("class-list").addEventListener("dblclick", () => $("class-choose").click());
$("class-choose").addEventListener("click", (event) => {
  const chosen = offered[$("class-list").selectedIndex];
  const problem = chosen ? problemOf(chosen) : "Choose a class, or type the name of a new one.";
  $("class-problem").textContent = problem;
  if (problem) event.preventDefault();
});
whenClosed("classes-dialog", () => {
  asked.then(offered[$("class-list").selectedIndex].label);
});
