// What the theme leaves out: names for screen readers, and tables of numbers.
document.addEventListener("DOMContentLoaded", () => {
  // The label would hide the visible text of the button, which has the keys in it.
  for (const button of document.querySelectorAll(".search-button-field")) {
    if (button.innerText.trim()) button.removeAttribute("aria-label");
  }
  for (const card of document.querySelectorAll(".sphx-glr-thumbcontainer")) {
    const title = card.querySelector(".sphx-glr-thumbnail-title");
    for (const link of card.querySelectorAll("a.reference.internal")) {
      if (title) link.setAttribute("aria-label", title.textContent.trim());
    }
  }
  for (const toggle of document.querySelectorAll("details > summary")) {
    if (!toggle.textContent.trim()) {
      const link = toggle.closest("li")?.querySelector("a");
      toggle.setAttribute("aria-label", `Pages below ${link ? link.textContent.trim() : "this one"}`);
    }
  }
  // Tables of numbers, whose cells are not broken into lines.
  for (const table of document.querySelectorAll(".bd-article table")) {
    const cells = [...table.querySelectorAll("td:not(:first-child)")];
    const isNumber = (cell) => /^[\d\s.,;:±≈%+()/*–-]{1,24}$/.test(cell.textContent.trim());
    if (cells.filter(isNumber).length > cells.length / 2) table.classList.add("numbers");
  }
  // References: roles of a list, whose children are no list items.
  for (const list of document.querySelectorAll(".citation-list, .footnote-list")) {
    list.removeAttribute("role");
    for (const entry of list.children) entry.removeAttribute("role");
  }
});
