// Decisions as files: export and import.

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
