// Draws every chart of the page; what fails is said in its place, and in document.documentElement.dataset.charts.
"use strict";
(async () => {
  const specs = JSON.parse(document.getElementById("specs").textContent);
  const places = [...document.querySelectorAll("[data-chart]")];
  const options = { actions: false, renderer: "svg", tooltip: { theme: "custom" } };
  let failed = 0;
  for (const place of places) {
    try {
      await vegaEmbed(place, specs[place.dataset.chart], options);
    } catch (error) {
      failed += 1;
      place.textContent = "This chart could not be drawn (" + error.message + "); its numbers are in the tables.";
      console.error(error);
    }
  }
  document.documentElement.dataset.charts = failed ? failed + " failed" : "drawn";
  // A table that is wider than its place says so, until it is scrolled to its end.
  const hint = (place) => {
    const left = place.scrollWidth - place.clientWidth - place.scrollLeft;
    place.classList.toggle("more-right", left > 2);
    const text = place.previousElementSibling;
    if (text && text.classList.contains("hint")) text.hidden = place.scrollWidth - place.clientWidth <= 2;
  };
  const sizes = new ResizeObserver((seen) => seen.forEach((one) => hint(one.target)));
  for (const place of document.querySelectorAll(".scroll")) {
    place.addEventListener("scroll", () => hint(place), { passive: true });
    sizes.observe(place);
  }
  // Paper has no place to click: everything unfolds.
  addEventListener("beforeprint", () => {
    for (const part of document.querySelectorAll("details")) part.open = true;
    dispatchEvent(new Event("resize"));
  });
})();
