// The accepted labels most similar to a suspect: one of the given class, one of the suggested.

function fillSimilar(list, item) {
  if (!list) return;
  const pair = data.similar[item] || [null, null];
  list.hidden = !pair.some(Boolean);
  list.querySelectorAll("dd").forEach((place, i) => {
    place.parentElement.hidden = !pair[i];
    if (!pair[i]) return;
    const { name, text, image } = pair[i];
    place.textContent = image ? "" : `${text} `;
    if (image) place.append(pictureOf(image, name));
    else place.append(Object.assign(document.createElement("small"), { textContent: name }));
  });
}

function pictureOf(address, name) {
  const image = Object.assign(document.createElement("img"), { alt: name, title: name });
  image.addEventListener("load", () => image.classList.toggle("coarse", image.naturalHeight < 32));
  image.src = address;
  return image;
}
