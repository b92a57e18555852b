// Files dropped anywhere on the box are chosen; what is sent is shown while it goes.
"use strict";

document.querySelectorAll("[data-drop]").forEach((box) => {
  const input = box.querySelector("input[type=file]");
  const said = box.querySelector("[data-chosen]");
  const bar = box.querySelector("progress");
  const hint = said.textContent;

  const show = () => {
    const files = [...input.files];
    const size = files.reduce((sum, file) => sum + file.size, 0);
    said.textContent = files.length
      ? `${files.map((file) => file.name).join(", ")} · ${(size / 1e6).toPrecision(2)} MB`
      : hint;
  };
  input.addEventListener("change", show);
  for (const name of ["dragenter", "dragover"]) {
    box.addEventListener(name, (event) => { event.preventDefault(); box.classList.add("over"); });
  }
  for (const name of ["dragleave", "drop"]) box.addEventListener(name, () => box.classList.remove("over"));
  box.addEventListener("drop", (event) => {
    event.preventDefault();
    if ([...event.dataTransfer.items].some((item) => item.webkitGetAsEntry?.()?.isDirectory)) {
      said.textContent = "A folder cannot be sent as it is: zip it and drop the zip, or use jetsonlab upload.";
      return;
    }
    input.files = event.dataTransfer.files;
    show();
  });

  const form = box.closest("form");
  form.addEventListener("htmx:xhr:progress", (event) => {
    bar.hidden = false;
    if (event.detail.lengthComputable) bar.value = event.detail.loaded / event.detail.total;
  });
  form.addEventListener("htmx:afterRequest", (event) => {
    bar.hidden = true;
    if (!event.detail.successful) return;
    input.value = "";
    show();
    document.getElementById("uploads").hidden = false;
  });
});
