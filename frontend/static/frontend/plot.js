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
  layout(own, data) {
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
      if (!/^[xy]axis\d*$/.test(name)) continue;
      layout[name] = { ...axis, ...(layout[name].type === "log" && data ? logTicks(data, name[0]) : {}), ...layout[name] };
    }
    return Theme.resolve(layout);
  },
  config: {
    responsive: true, displaylogo: false, showLink: false,
    modeBarButtonsToRemove: ["lasso2d", "select2d", "autoScale2d"],
    modeBarButtonsToAdd: [{ name: "data", title: "Download data as CSV", icon: Plotly.Icons.disk, click: downloadData }],
    toImageButtonOptions: { format: "png", scale: 2 },
  },
  onChange(draw) {
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  },
};

// Whole numbers along a logarithmic axis, where Plotly would write the small digits of each decade.
function logTicks(data, letter) {
  const values = data.flatMap((trace) => [...(trace[letter] || [])]).filter((value) => value > 0);
  if (!values.length) return {};
  const [low, high] = values.reduce(([least, most], each) => [Math.min(least, each), Math.max(most, each)], [Infinity, 0]);
  const steps = high / low > 3000 ? [1] : high / low > 12 ? [1, 2, 5] : [1, 1.5, 2, 3, 4, 5, 7];
  const decades = Array.from({ length: Math.ceil(Math.log10(high / low)) + 4 }, (_, place) => Math.floor(Math.log10(low)) - 1 + place);
  const tickvals = decades.flatMap((decade) => steps.map((step) => Number((step * 10 ** decade).toPrecision(2))));
  return { tickvals, ticktext: tickvals.map((value) => value.toLocaleString("en")) };
}

// A line for each mark of the plot, as drawn; a map has one for each cell.
function linesOf(trace, place) {
  const name = trace.name || `${trace.type || "scatter"} ${place + 1}`;
  if (trace.type === "heatmap") {
    return trace.y.flatMap((y, row) => trace.x.map((x, column) => [name, x, y, (trace.customdata || trace.z)[row][column]]));
  }
  if (trace.dimensions) {
    const columns = trace.dimensions.map((each) => [...each.values]);
    return columns[0].map((_, row) => [name, ...columns.map((column) => column[row])]);
  }
  const [x, y, text] = [trace.x, trace.y, trace.text].map((each) => (typeof each === "object" && each ? [...each] : []));
  const marks = y.length ? y : x;
  return marks.map((_, mark) => [name, x[mark] ?? "", y[mark] ?? "", text[mark] ?? ""]);
}

function downloadData(place) {
  const titled = (axis) => place.layout[axis]?.title?.text || axis[0];
  const dimensions = place.data.find((trace) => trace.dimensions)?.dimensions;
  const head = dimensions ? dimensions.map((each) => each.label) : [titled("xaxis"), titled("yaxis"), "value"];
  const rows = [["trace", ...head], ...place.data.flatMap(linesOf)];
  const plain = (cell) => String(cell ?? "").replace(/&lt;/g, "<").replace(/&amp;/g, "&");
  const quoted = (cell) => `"${plain(cell).replace(/"/g, '""').replace(/^(?=[=+@\t\r]|-\D)/, "'")}"`;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([rows.map((row) => row.map(quoted).join(",")).join("\r\n")], { type: "text/csv" }));
  link.download = `${place.dataset.plot || place.id || "plot"}.csv`;
  link.click();
  URL.revokeObjectURL(link.href);
}

function drawPlots(root) {
  root.querySelectorAll("[data-plot]").forEach((place) => {
    const figure = JSON.parse(document.getElementById(place.dataset.plot).textContent);
    Plotly.react(place, Theme.resolve(figure.data), Theme.layout(figure.layout, figure.data), Theme.config);
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
