// Several reviewers: what each of them said, and how often they agree.

const isSame = (one, other) => one.label === other.label && (one.label !== null || one.decision === other.decision);
const isDiffering = (item) => {
  const { opinions = [] } = decisionOf(item) || {};
  return opinions.some((one) => !isSame(one, opinions[0]));
};
const isDisputed = (item) => isDiffering(item) && !decisionOf(item).settled;
const opinionOf = (made, by) => ({ by, decision: made.decision, label: made.label, ...(made.comment && { comment: made.comment }) });

/* My decision with theirs: mine stays in force, and what each of us said is kept. */
function merged(mine, theirs, names) {
  if (!mine) return theirs;
  const [me, them] = [mine.by || names.mine, theirs.by || names.theirs];
  if (me === them) return { ...(mine.opinions && { opinions: mine.opinions, settled: true }), ...theirs };
  const said = new Map();
  const all = [...(mine.opinions || [opinionOf(mine, me)]), ...(theirs.opinions || [opinionOf(theirs, them)])];
  for (const one of all) said.set(one.by, one);
  const isKnown = (one) => (mine.opinions || []).some((old) => old.by === one.by && isSame(old, one));
  return { ...mine, settled: Boolean(mine.settled) && all.every(isKnown), opinions: [...said.values()] };
}

/* Of each two reviewers: how many labels both decided, and how many alike. */
function agreement() {
  const pairs = new Map();
  for (const { opinions = [] } of decisions.values()) {
    opinions.forEach((one, i) => opinions.slice(i + 1).forEach((other) => {
      const names = [one.by, other.by].sort();
      const pair = pairs.get(names.join("\n")) || { names, both: 0, alike: 0 };
      pair.both += 1;
      pair.alike += isSame(one, other) ? 1 : 0;
      pairs.set(names.join("\n"), pair);
    }));
  }
  return [...pairs.values()];
}

function showAgreement() {
  const pairs = agreement();
  $("agreement").replaceChildren(...pairs.map(({ names, both, alike }) => {
    const line = document.createElement("li");
    line.textContent = `${names[0]} and ${names[1]} agree on ${whole(alike)} of ${labelsOf(both)} (${((100 * alike) / both).toFixed(0)} %).`;
    return line;
  }));
  const nDisputed = items.row.filter((_, item) => isDisputed(item)).length;
  $("show-disputed").hidden = !nDisputed;
  $("show-disputed").textContent = `Settle the ${labelsOf(nDisputed)} on which they differ`;
}

$("reviewer").addEventListener("change", store);
$("show-disputed").addEventListener("click", () => {
  filter({ ...NO_FILTER, view: "suspects", status: "differ" });
  goTo(0);
});
