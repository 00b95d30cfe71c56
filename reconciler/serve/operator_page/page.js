// A slider beside the day, and how long an erasure takes: every page works without this file.
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
