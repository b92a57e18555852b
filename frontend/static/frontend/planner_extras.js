// The sections under a plan: loaded when opened, again after each new answer; their state is in the address.
"use strict";

const extras = document.querySelector("[data-extras]");
const MOST_PINS = 4;

// Sections keep no history of their own: Back leads to the question before.
function remember(name, value) {
  const address = new URL(location);
  if (value === "") address.searchParams.delete(name);
  else address.searchParams.set(name, value);
  history.replaceState(history.state, "", address);
}

function set(name, value) {
  form.elements[name].value = value;
  remember(name, value);
}

const section = (name) => extras.querySelector(`[data-section=${name}]`);

function load(each) {
  each.dataset.loaded = "";
  htmx.trigger(each.querySelector(".extra-body"), "load-section");
}

function refresh(each) {
  if (!each) return;
  if (each.open) load(each);
  else delete each.dataset.loaded;
}

// A question without an answer leaves nothing of the last one standing.
function clear(each) {
  delete each.dataset.loaded;
  each.querySelector(".extra-body").replaceChildren();
}

function pin(rank) {
  const pins = form.elements.pin.value.split(",").filter(Boolean);
  if (pins.includes(String(rank)) || pins.length >= MOST_PINS) return;
  set("pin", [...pins, rank].join(","));
  refresh(section("best"));
}

function unpin(rank) {
  set("pin", form.elements.pin.value.split(",").filter((each) => each !== rank).join(","));
  refresh(section("best"));
}

// A range kept on an axis, as NAME:LEAST:LARGEST.
function brushed(place) {
  const kept = place.data[0].dimensions.filter((each) => each.constraintrange)
    .map(({ name, constraintrange: [low, high] }) => `${name}:${low.toPrecision(5)}:${high.toPrecision(5)}`);
  set("brush", kept.join(","));
  refresh(section("best"));
}

for (const each of extras.querySelectorAll("details")) {
  each.addEventListener("toggle", () => {
    const open = [...extras.querySelectorAll("details[open]")].map((one) => one.dataset.section);
    set("open", open.join(","));
    if (each.open && !("loaded" in each.dataset)) load(each);
  });
  // A section's own choices concern it alone, not the plan.
  each.addEventListener("change", (event) => {
    event.stopPropagation();
    if (!event.target.name || !event.target.checkValidity()) return;
    remember(event.target.name, event.target.value);
    load(each);
  });
  each.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !event.target.matches("input")) return;
    event.preventDefault();
    event.target.dispatchEvent(new Event("change", { bubbles: true }));
  });
}
document.body.addEventListener("htmx:load", () => {
  extras.querySelectorAll("details[open]").forEach(load);
}, { once: true });

extras.addEventListener("click", (event) => {
  const budget = event.target.closest("[data-budget]");
  if (budget && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    powerInput.value = budget.dataset.budget;
    powerInput.dispatchEvent(new Event("change", { bubbles: true }));
    return;
  }
  const button = event.target.closest("[data-pin], [data-unpin], [data-unbrush], [data-open]");
  if (!button) return;
  if (button.dataset.pin) pin(button.dataset.pin);
  else if (button.dataset.unpin) unpin(button.dataset.unpin);
  else if (button.dataset.open) section(button.dataset.open).open = true;
  else {
    set("brush", "");
    ["best", "parallel"].forEach((name) => refresh(section(name)));
  }
});

document.body.addEventListener("htmx:beforeSwap", (event) => {
  event.detail.target.querySelectorAll?.(".js-plotly-plot").forEach((place) => {
    if (extras.contains(place)) Plotly.purge(place);
  });
});
document.body.addEventListener("htmx:afterSwap", (event) => {
  const target = event.detail.target;
  if (target.id === "plan-answer") {
    extras.querySelectorAll("details").forEach(target.querySelector(".answer") ? refresh : clear);
  }
  if (!extras.contains(target)) return;
  drawPlots(target);
  const lines = target.querySelector("#parallel-plot");
  lines?.on("plotly_restyle", () => brushed(lines));
});

// What the address holds for a section not loaded yet goes along with every question.
form.addEventListener("htmx:configRequest", (event) => {
  for (const [name, value] of new URLSearchParams(location.search)) {
    if (!form.elements[name]) event.detail.parameters[name] = value;
  }
});
document.querySelector("[data-with-question]")?.addEventListener("click", (event) => {
  event.currentTarget.search = location.search;
});
plot?.addEventListener("pick-mode", (event) => {
  section("best").open = true;
  pin(event.detail);
});
