// Totals, and numbers of wrong labels from the answers to the control sample.

function showTotals() {
  const shown = state.view === "controls" ? data.controls : data.suspects;
  const inAll = shown.filter(shownOf).length;
  const nDone = state.among.filter((item) => (state.status === "differ" ? !isDisputed(item) : shownOf(item))).length;
  const isPart = state.among.length < shown.length;
  $("progress").max = Math.max(state.among.length, 1);
  $("progress").value = nDone;
  $("start").textContent = inAll ? "Continue review" : "Start review";
  $("progress-text").textContent = `${whole(nDone)} of ${whole(state.among.length)} decided${isPart ? ` (in all ${whole(inAll)} of ${whole(shown.length)})` : ""}`;
  const nOpen = state.view === "controls" ? 0 : openOnes().length;
  $("all").hidden = !nOpen;
  for (const node of document.querySelectorAll(".n-open")) node.textContent = whole(nOpen);
  const all = items.row.map((_, item) => item).filter(decisionOf);
  const count = (test) => whole(all.filter(test).length);
  $("n-decided").textContent = whole(all.length);
  $("n-changed").textContent = count(isChanged);
  for (const kind of ["unsure", "discard"]) $(`n-${kind}`).textContent = count((item) => decisionOf(item).decision === kind);
  $("n-kept").textContent = count((item) => decisionOf(item).label === givenOf(item));
  showAgreement();
  showControl();
}

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
    if (made.label === null) found.delete(items.row[item]);
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
