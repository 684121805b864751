// Small helpers for elements.

export const $ = (id) => document.getElementById(id);

/** Make an element: attributes by name, `on` for listeners, children as text or elements. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    } else if (name === "style") {
      for (const [property, text] of Object.entries(value)) element.style.setProperty(property, text);
    } else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? "" : value);
    }
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

export const prefersStillness = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

let announcing = 0;

/** Tell people who listen to the page; only the last of quick changes is said. */
export function announce(text) {
  clearTimeout(announcing);
  announcing = setTimeout(() => { $("status").textContent = text; }, 700);
}
