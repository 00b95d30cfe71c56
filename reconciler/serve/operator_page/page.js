// A slider beside the day, how long an erasure takes, and keys: every page works without this file.
"use strict";
for (const form of document.querySelectorAll("form.as-of[data-first]")) {
  const day = form.elements.at;
  const millisecondsOfDay = 86_400_000;
  const first = Date.parse(form.dataset.first);
  const last = Math.round((Date.parse(form.dataset.last) - first) / millisecondsOfDay);
  if (!(last > 0)) continue;
  const dayOf = (number) => new Date(first + number * millisecondsOfDay).toISOString().slice(0, 10);
  const slider = Object.assign(document.createElement("input"), {
    type: "range", min: 0, max: last, step: 1, className: "slider", id: "slide",
  });
  slider.value = (Date.parse(day.value) - first) / millisecondsOfDay;
  const told = () => slider.setAttribute("aria-valuetext", day.value);
  slider.setAttribute("aria-label", "As the memory was on");
  slider.addEventListener("input", () => { day.value = dayOf(Number(slider.value)); told(); });
  // An arrow moves the day by one and Enter shows it; to let go of the mouse shows it at once.
  let isByKey = false;
  slider.addEventListener("pointerdown", () => { isByKey = false; });
  slider.addEventListener("keydown", (event) => {
    isByKey = true;
    if (event.key === "Enter") { event.preventDefault(); form.requestSubmit(); }
  });
  slider.addEventListener("change", () => { if (!isByKey) form.requestSubmit(); });
  day.addEventListener("change", () => { slider.value = (Date.parse(day.value) - first) / millisecondsOfDay; told(); });
  told();
  form.append(slider);
  form.action += `#${slider.id}`;  // the next page has the focus and the place of this one
}
for (const form of document.querySelectorAll("form[data-busy]")) {
  form.addEventListener("submit", () => {
    const told = Object.assign(document.createElement("p"), { role: "status", textContent: form.dataset.busy });
    const seconds = document.createElement("span");
    const began = Date.now();
    setInterval(() => { seconds.textContent = ` ${Math.round((Date.now() - began) / 1000)} s`; }, 1000);
    told.append(seconds);
    form.append(told);
    form.querySelector("button").disabled = true;
  });
}
const keys = document.querySelector(".keys");
if (keys) {
  const use = document.getElementById("use-keys");
  const list = keys.querySelector("details");
  const items = "main article, main .facts > li, main .limits > li, main .decisions > li, main .cards > li, main tbody tr";
  let last = null;  // the item that was gone to last; the focus may have left it since
  const go = (step) => {
    const shown = [...document.querySelectorAll(items)].filter((item) => item.getClientRects().length);
    const focused = shown.findIndex((item) => item.contains(document.activeElement));
    const from = focused < 0 ? shown.indexOf(last) : focused;
    const item = shown[from < 0 && step < 0 ? shown.length - 1 : Math.min(Math.max(from + step, 0), shown.length - 1)];
    if (!item) return;
    item.tabIndex = -1;
    item.focus();
    item.scrollIntoView({ block: "nearest" });
    last = item;
  };
  const search = () => {
    const field = document.querySelector("input[type=search]");
    if (field) field.focus(); else location.assign(`${document.querySelector(".brand").href}#q`);
  };
  const tell = () => {
    list.open = !list.open;
    if (list.open) list.querySelector("summary").focus();
  };
  const acts = { j: () => go(1), k: () => go(-1), "/": search, "?": tell };
  try { use.checked = localStorage.getItem("keys") !== "off"; } catch { /* nothing may be kept: the keys are on */ }
  use.addEventListener("change", () => {
    try { localStorage.setItem("keys", use.checked ? "on" : "off"); } catch { /* for this page alone */ }
  });
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target.closest("select, textarea, input:not([type=radio], [type=checkbox], [type=range])");
    if (!use.checked || isTyping || event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
    if (!Object.hasOwn(acts, event.key)) return;
    event.preventDefault();
    acts[event.key]();
  });
  keys.hidden = false;
}
