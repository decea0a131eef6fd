// Decisions as files: export, and import of one's own, of another reviewer's, or of those about an earlier file.

/* What the control sample tells about a label; nothing unless it was decided there. */
function answerRecord(item) {
  const answer = answerOf(item);
  if (!answer) return {};
  return { control: answer, wrong: answer.label === null ? null : answer.label !== givenOf(item) };
}

/* Labels as the file spells them, and as the page does. */
const asSpelled = (item, made) => ({ ...made, label: made.label === givenOf(item) ? spelledOf(item) : made.label });
const asClass = (item, made) => ({ ...made, label: made.label === spelledOf(item) ? givenOf(item) : made.label });

/* The most probable classes, as far as the page knows them: to three digits. */
function probabilitiesOf(item) {
  const likely = items.likely[item];
  return Object.fromEntries(likely.flatMap((one, i) => (i % 2 ? [] : [[classes[one], likely[i + 1] / 1000]])));
}

function records() {
  return items.row
    .map((row, item) => ({ item, made: decisions.get(row) }))
    .filter(({ made }) => made)
    .sort((a, b) => items.row[a.item] - items.row[b.item])
    .map(({ item, made }) => {
      const { opinions, ...further } = asSpelled(item, made);
      return {
        row: items.row[item],
        ...(items.id && { id: items.id[item] }),
        name: items.name[item],
        given: spelledOf(item),
        suggested: suggestedOf(item),
        quality: items.quality[item],
        ...(items.likely && { probabilities: probabilitiesOf(item) }),
        ...answerRecord(item),
        ...further,
        decision: kindOf(item, made),
        ...(opinions && { opinions: opinions.map((one) => asSpelled(item, one)) }),
      };
    });
}

/* Decisions of loaded files about rows of which this page has no card. */
function notListed() {
  const [rows, ids] = [new Set(items.row), new Set(items.id)];
  return [...elsewhere.values()].filter(({ row, id }) => !rows.has(row) && !ids.has(id));
}

function save(name, type, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function exportJson() {
  const { title, kind, label, fingerprint, id } = data;
  const content = {
    format: "skpresto decisions",
    version: 3,
    source: title,
    kind,
    label,
    id,
    fingerprint,
    exported: new Date().toISOString(),
    reviewer: reviewer() || null,
    new_classes: newClasses(),
    decisions: [...records(), ...notListed()],
    ...(respelled().length ? { spellings: respelled() } : {}),
  };
  save("decisions.json", "application/json", JSON.stringify(content, null, 1));
}

/* A spreadsheet must not take a text for a formula. */
function cell(value) {
  let text = value === null || value === undefined ? "" : String(value);
  if (typeof value === "string" && /^[=+\-@\t\r]/.test(text)) text = `'${text}`;
  return /[",\n\r;\t]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function exportCsv() {
  const names = ["row", "id", "name", "given", "suggested", "decision", "label", "by", "comment", "bulk"];
  const lines = records().map((record) => names.map((name) => cell(record[name])).join(","));
  save("decisions.csv", "text/csv", [names.join(","), ...lines, ""].join("\r\n"));
}

/* The known parts of a record, in their types; a decision that is not named follows from the label. */
function cleaned(record, by) {
  const label = record.label === null || record.label === undefined ? null : String(record.label);
  const text = (name, otherwise) => (record[name] || otherwise ? { [name]: String(record[name] || otherwise) } : {});
  const implied = label === null ? "unsure" : label === String(record.given) ? "keep" : "other";
  const decision = Object.hasOwn(KINDS, record.decision) ? record.decision : implied;
  const opinions = Array.isArray(record.opinions) ? record.opinions.map((one) => ({ ...cleaned(one), by: String(one.by) })) : null;
  return { decision, label, ...text("by", by), ...text("comment"), ...text("bulk"), ...(opinions && { opinions, settled: Boolean(record.settled) }) };
}

/* Where a record belongs: to an item, to no item of this page (null), or nowhere (undefined). */
function itemOf(record, isSameData, places) {
  const item = isSameData && Number.isInteger(record.row) ? places.row.get(record.row) : places.id.get(String(record.id));
  if (item === undefined) return null;
  return String(record.given) === spelledOf(item) ? item : undefined;
}

function loadRecords(content, isSameData, names) {
  const places = { row: new Map(items.row.map((row, item) => [row, item])), id: new Map((items.id || []).map((id, item) => [id, item])) };
  const known = content.decisions.filter((record) => record && typeof record === "object");
  const found = known.map((record) => ({ record, item: itemOf(record, isSameData, places), theirs: cleaned(record, content.reviewer) }));
  const listed = found.filter(({ item }) => Number.isInteger(item)).map((one) => ({ ...one, row: items.row[one.item], theirs: { ...asClass(one.item, one.theirs), ...(one.theirs.opinions && { opinions: one.theirs.opinions.map((o) => asClass(one.item, o)) }) } }));
  const both = listed.filter(({ row }) => decisions.has(row)).map(({ row, theirs }) => [decisions.get(row), theirs]);
  // Without names, a file that says the same is one's own, and one that does not is another reviewer's.
  const isOwn = both.every(([mine, theirs]) => mine.by || theirs.by || isSame(mine, theirs));
  remember(listed.map(({ row }) => row), { elsewhere: [...elsewhere] });
  for (const { row, item, record, theirs } of listed) {
    decisions.set(row, merged(decisions.get(row), theirs, isOwn ? { mine: names.mine, theirs: names.mine } : names));
    if (isSameData && record.control && isDecision([row, record.control]) && !answers.has(row)) answers.set(row, asClass(item, cleaned({ ...record.control, given: record.given })));
  }
  const further = found.filter(({ item, record }) => item === null && (record.id !== undefined || (isSameData && Number.isInteger(record.row))));
  for (const { record, theirs } of further) {
    const { row, id, name, given, suggested, control, wrong } = record;
    const key = id === undefined ? row : `id:${id}`;
    const ofData = isSameData ? { row, control, wrong } : { row: null };
    elsewhere.set(key, { ...ofData, id, name, given, suggested, ...merged(elsewhere.get(key), theirs, names) });
  }
  const nChanged = known.length - listed.length - further.length;
  return { nListed: listed.length, nFurther: further.length, nChanged, nDiffer: both.filter(([mine, theirs]) => !isSame(mine, theirs)).length };
}

async function load(file) {
  let content;
  try {
    content = JSON.parse(await file.text()) || {};
  } catch {
    content = {};
  }
  const isSameData = content.fingerprint === data.fingerprint;
  const hasIds = Boolean(data.id) && content.id === data.id;
  if (!Array.isArray(content.decisions) || !(isSameData || hasIds)) {
    window.alert("These are not decisions about this data.");
    return;
  }
  const names = { mine: "this browser", theirs: file.name.replace(/\.json$/i, "") };
  const { nListed, nFurther, nChanged, nDiffer } = loadRecords(content, isSameData, names);
  if (isSameData && Array.isArray(content.spellings)) loadSpellings(content.spellings);
  store();
  refresh();
  const text = [
    `${whole(nListed)} decisions loaded${isSameData ? "" : ", by their ids"}.`,
    nDiffer && `${whole(nDiffer)} differ from those that were here.`,
    nFurther && `${whole(nFurther)} are about rows that this page does not list: they are exported with the others.`,
    nChanged && `${whole(nChanged)} are left out, since the given label is another one now.`,
  ].filter(Boolean).join(" ");
  $("load-text").textContent = text;
  announce(text);
}

$("export-json").addEventListener("click", exportJson);
$("export-csv").addEventListener("click", exportCsv);
$("load").addEventListener("change", (event) => {
  if (event.target.files.length) load(event.target.files[0]);
  event.target.value = "";
});
$("clear").addEventListener("click", () => {
  const n = decisions.size + answers.size + elsewhere.size;
  if (!n || !window.confirm(`Forget all ${whole(decisions.size + elsewhere.size)} decisions?`)) return;
  decisions = new Map();
  answers = new Map();
  elsewhere = new Map();
  history = [];
  store();
  refresh();
  announce("All decisions are forgotten.");
});
