// Manners of every page: "/" searches, Esc closes, rows open, copy buttons copy, toasts go away.
"use strict";

// Times are written by the server, in the reader's own zone from the second page on.
document.cookie = `timezone=${encodeURIComponent(Intl.DateTimeFormat().resolvedOptions().timeZone)}; path=/; max-age=31536000; samesite=lax`;

// On a narrow screen the sections scroll; the one that is open comes into sight.
document.querySelectorAll(".nav [aria-current]").forEach((link) => {
  const nav = link.parentElement;
  nav.scrollLeft = link.offsetLeft - (nav.clientWidth - link.offsetWidth) / 2;
});

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, select, textarea, [contenteditable]");
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    document.getElementById("search")?.focus();
  }
  if (event.key === "Escape") {
    document.querySelectorAll("details.menu[open]").forEach((menu) => {
      menu.open = false;
      menu.querySelector("summary").focus();
    });
    if (event.target.id === "search") event.target.blur();
  }
});

// What a dotted underline explains stands in its title; a touch or Enter shows it to those who do not hover.
const bubble = document.createElement("div");
bubble.className = "bubble";
bubble.role = "status";

function explain(term) {
  const place = term.getBoundingClientRect();
  bubble.textContent = term.title;
  document.body.append(bubble);
  bubble.style.top = `${scrollY + place.bottom + 6}px`;
  bubble.style.left = `${Math.max(8, Math.min(place.left, innerWidth - bubble.offsetWidth - 8))}px`;
}

const reachable = (root) => root.querySelectorAll("abbr[title]").forEach((term) => { term.tabIndex = 0; });
reachable(document);
document.addEventListener("htmx:load", (event) => reachable(event.target));
document.addEventListener("focusout", () => bubble.remove());
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") bubble.remove();
  if (event.key === "Enter" && event.target.matches("abbr[title]")) explain(event.target);
});
document.addEventListener("click", (event) => {
  bubble.remove();
  const term = event.target.closest("abbr[title], .term[title], .unknown[title], .tag[title], time[title]");
  if (term && !term.closest("a, button, tr[data-href]")) explain(term);
});

document.addEventListener("click", (event) => {
  document.querySelectorAll("details.menu[open]").forEach((menu) => {
    if (!menu.contains(event.target)) menu.open = false;
  });
  event.target.closest("[data-dismiss]")?.parentElement.remove();
  const copier = event.target.closest("[data-copy]");
  if (copier) copyFrom(copier);
  const row = event.target.closest("tr[data-href]");
  if (row && !event.target.closest("a, button, input, label, summary") && !getSelection().toString()) {
    if (event.ctrlKey || event.metaKey) window.open(row.dataset.href);
    else location.href = row.dataset.href;
  }
});

// Plain http has no clipboard but on this machine itself: then the text is selected, ready for Ctrl-C.
async function copyFrom(button) {
  const said = button.textContent;
  const source = document.querySelector(button.dataset.copy);
  if (!navigator.clipboard) return void getSelection().selectAllChildren(source);
  await navigator.clipboard.writeText(source.textContent.trim());
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = said; }, 1500);
}

// A filter form sends itself when a choice changes; its button stays for those without scripts.
document.addEventListener("change", (event) => {
  const form = event.target.closest("form[data-autosubmit]");
  if (!form) return;
  keepOpen(event.target.closest("details.facet"), event.target.value);
  form.requestSubmit();
});

// A facet that was being chosen from stays open on the page of its answer, and when its counts come.
const keepOpen = (facet, value) => facet && sessionStorage.setItem("facet", JSON.stringify([facet.id, value]));
function reopen() {
  const [id, value] = JSON.parse(sessionStorage.getItem("facet") ?? "[]");
  const facet = id && document.getElementById(id);
  sessionStorage.removeItem("facet");
  if (!facet) return;
  facet.open = true;
  [...facet.querySelectorAll("input")].find((input) => input.value === value)?.focus({ preventScroll: true });
}
reopen();
document.addEventListener("htmx:beforeSwap", () => {
  const facet = document.querySelector("details.facet[open]");
  keepOpen(facet, facet?.contains(document.activeElement) ? document.activeElement.value : "");
});
document.addEventListener("htmx:load", reopen);

// What nobody filled in stays out of the address.
document.addEventListener("formdata", (event) => {
  if (!event.target.matches("[data-tidy]")) return;
  [...event.formData].forEach(([name, value]) => { if (value === "") event.formData.delete(name); });
});

document.addEventListener("submit", (event) => {
  const question = event.submitter?.dataset.confirm;
  if (question && !confirm(question)) event.preventDefault();
});

// A session that ended answers with the sign-in page: go there instead of showing it inside a card.
document.addEventListener("htmx:beforeSwap", (event) => {
  if (new URL(event.detail.xhr.responseURL || location.href).pathname === "/login/") {
    event.detail.shouldSwap = false;
    location.reload();
  }
});

document.addEventListener("htmx:sendError", () => {
  if (document.querySelector("#toasts .offline")) return;
  const toast = document.createElement("div");
  toast.className = "toast offline";
  toast.append("The server does not answer. Your work is kept; trying again may help.");
  document.getElementById("toasts").append(toast);
  setTimeout(() => toast.remove(), 6000);
});
