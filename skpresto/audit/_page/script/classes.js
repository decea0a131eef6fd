// Another class, from a dialog.

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
