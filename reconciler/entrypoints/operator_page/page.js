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
    type: "range", min: 0, max: last, step: 1, className: "slider",
  });
  slider.value = (Date.parse(day.value) - first) / millisecondsOfDay;
  const told = () => slider.setAttribute("aria-valuetext", day.value);
  slider.setAttribute("aria-label", "As the memory was on");
  slider.addEventListener("input", () => { day.value = dayOf(Number(slider.value)); told(); });
  slider.addEventListener("change", () => form.requestSubmit());
  day.addEventListener("change", () => { slider.value = (Date.parse(day.value) - first) / millisecondsOfDay; told(); });
  told();
  form.append(slider);
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
