// Where a page renews parts of itself, plots are drawn anew; one that stayed only changes its points.
"use strict";

document.addEventListener("htmx:afterSwap", () => drawPlots(document));
