// Figures come as JSON; colours named "--role" are taken from the page's own properties and follow the theme.
"use strict";

const Theme = {
  colour(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  },
  resolve(value) {
    if (typeof value === "string") return value.startsWith("--") ? Theme.colour(value) : value;
    if (ArrayBuffer.isView(value)) return value;
    if (Array.isArray(value)) return value.every(Number.isFinite) ? value : value.map(Theme.resolve);
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, Theme.resolve(each)]));
  },
  layout(own) {
    const axis = {
      gridcolor: "--line", linecolor: "--line", zerolinecolor: "--line", tickcolor: "--line",
      automargin: true, fixedrange: false,
    };
    const base = {
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", autosize: true,
      font: { family: Theme.colour("--sans"), size: 12, color: "--text" },
      hoverlabel: { bgcolor: "--surface", bordercolor: "--line", font: { color: "--text" } },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: "--muted", activecolor: "--text" },
    };
    const layout = { ...base, ...own };
    for (const name of Object.keys(layout)) {
      if (/^[xy]axis\d*$/.test(name)) layout[name] = { ...axis, ...layout[name] };
    }
    return Theme.resolve(layout);
  },
  config: {
    responsive: true, displaylogo: false, showLink: false,
    modeBarButtonsToRemove: ["lasso2d", "select2d", "autoScale2d"],
    toImageButtonOptions: { format: "png", scale: 2 },
  },
  onChange(draw) {
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  },
};

function drawPlots(root) {
  root.querySelectorAll("[data-plot]").forEach((place) => {
    const figure = JSON.parse(document.getElementById(place.dataset.plot).textContent);
    Plotly.react(place, Theme.resolve(figure.data), Theme.layout(figure.layout), Theme.config);
  });
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-picture]");
  if (!button) return;
  const place = document.getElementById(button.dataset.picture);
  Plotly.downloadImage(place, { format: "png", scale: 2, filename: button.dataset.picture });
});

drawPlots(document);
Theme.onChange(() => drawPlots(document));
