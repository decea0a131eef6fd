// Dialogs: decisions about all that is listed, comments, the larger view, and the keys.

/* Runs an action if a dialog was closed by its first button. */
function whenClosed(id, action) {
  $(id).addEventListener("close", () => {
    const isDone = $(id).returnValue === "do";
    $(id).returnValue = "";
    if (isDone) action();
  });
}

// ---- All that the list shows and nobody has decided yet ----

let together = null;

const openOnes = () => state.order.filter((item) => !decisionOf(item));

function filterInWords() {
  const parts = [
    state.given !== "" && `given ${classes[state.given]}`,
    state.suggested !== "" && `suggested ${classes[state.suggested]}`,
    state.words.length && `with “${state.words.join(" ")}”`,
    state.below !== "" && `quality below ${state.below}`,
  ].filter(Boolean);
  return parts.join(", ") || "all suspects";
}

function askForAll(decision) {
  const many = openOnes();
  if (state.view === "controls") return announce("The control sample is decided one by one.");
  if (decision === "accept" && $("blind").checked) return announce("Suggestions that are hidden cannot be accepted.");
  if (!many.length) return announce("All labels that are listed are decided.");
  together = { decision, many };
  $("all-text").textContent = `${decision === "accept" ? "Accept the suggestions for" : "Keep the given labels of"} ${whole(many.length)} undecided ${many.length === 1 ? "label" : "labels"}: ${filterInWords()}.`;
  $("all-do").textContent = `${decision === "accept" ? "Accept" : "Keep"} ${whole(many.length)}`;
  $("all-comment").value = "";
  $("all-dialog").showModal();
  $("all-do").focus();
}

whenClosed("all-dialog", () => {
  const comment = $("all-comment").value.trim();
  const { decision, many } = together;
  decideAll(many, decision, { bulk: `${filterInWords()} (${labelsOf(many.length)})`, ...(comment && { comment }) });
  goTo(state.active);
});

for (const decision of ["keep", "accept"]) $(`all-${decision}`).addEventListener("click", () => askForAll(decision));

// ---- A comment ----

function askForComment(item) {
  const made = decisionOf(item);
  asked = { item };
  $("comment").value = (made && made.comment) || "";
  $("comment-note").hidden = Boolean(shownOf(item));
  $("comment-dialog").showModal();
  $("comment").focus();
}

whenClosed("comment-dialog", () => {
  const { item } = asked;
  const comment = $("comment").value.trim();
  if (!comment && !shownOf(item)) return;
  const { decision = "unsure", label = null } = shownOf(item) || {};
  decide(item, decision, label, { comment });
  const card = cardAt(state.active);
  if (card) showDecision(card, item);
});

// ---- The larger view, and the keys ----

function enlarge(place) {
  const card = cardAt(place);
  if (!card) return;
  $("large").replaceChildren(card.querySelector(".evidence").cloneNode(true));
  $("large").classList.toggle("blind", card.classList.contains("blind"));
  $("large-dialog").showModal();
}

for (const [id, key] of [["large-dialog", "v"], ["keys-dialog", "?"]]) {
  $(id).addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() === key) { event.preventDefault(); $(id).close(); }
  });
}
$("show-keys").addEventListener("click", () => $("keys-dialog").showModal());
