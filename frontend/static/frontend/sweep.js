// A sweep's plot stays where it is while the rest of the page is renewed; only its points change.
"use strict";

document.addEventListener("htmx:afterSwap", () => drawPlots(document));
