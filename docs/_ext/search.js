// What the search of the built site finds first, for each query: node search.js SITE QUERY...
const fs = require("fs");
const path = require("path");
const vm = require("vm");

const [site, ...queries] = process.argv.slice(2);
// What the scripts expect of a page.
const page = {
  _ready() {},
  _: (text) => text,
  document: { getElementById: () => ({}) },
  SPHINX_HIGHLIGHT_ENABLED: false,
  DOCUMENTATION_OPTIONS: { FILE_SUFFIX: ".html", LINK_SUFFIX: ".html" },
};
page.window = page;
const context = vm.createContext(page);
for (const name of ["base-stemmer.js", "language_data.js", "searchtools.js"]) {
  const script = path.join(site, "_static", name);
  if (fs.existsSync(script)) {
    vm.runInContext(fs.readFileSync(script, "utf8"), context);
  }
}
vm.runInContext(fs.readFileSync(path.join(site, "searchindex.js"), "utf8"), context);
const find = "(query) => Search._performSearch(...Search._parseQuery(query))";
for (const query of queries) {
  const found = vm.runInContext(find, context)(query);
  const first = found[found.length - 1]; // the page shows the last one first
  console.log(first ? first[0] : "");
}
