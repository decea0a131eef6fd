// The table of classes, in the order of a column.

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
