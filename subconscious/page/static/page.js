// The scripts of the page: keyboard shortcuts, selecting several rows, live updates, charts and the graph.
// All text comes from the server, escaped; nothing here turns text into HTML.
"use strict";

const base = document.body.dataset.base;
const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// A form that is sent as soon as its field changes.
document.addEventListener("change", (event) => {
  if (event.target.matches("[data-submit]")) event.target.form.submit();
});

// Selecting several rows: the buttons work as soon as a row is selected. Rows in a closed <details> are not selected.
const listed = (form) => [...form.querySelectorAll("input[name=id]")].filter((box) => !box.closest("details:not([open])"));

function countChosen(form) {
  const boxes = listed(form);
  const chosen = form.querySelectorAll("input[name=id]:checked").length;
  const total = form.querySelector("[data-total]");
  total.dataset.before ??= total.textContent;
  total.textContent = chosen ? `${chosen} selected` : total.dataset.before;
  form.querySelectorAll(".bulk button").forEach((button) => { button.disabled = !chosen; });
  const all = form.querySelector("[data-all]");
  all.checked = chosen > 0 && chosen === boxes.length;
  all.indeterminate = chosen > 0 && chosen < boxes.length;
}

document.addEventListener("change", (event) => {
  const form = event.target.closest("[data-bulk]");
  if (!form) return;
  if (event.target.matches("[data-all]")) {
    listed(form).forEach((box) => { box.checked = event.target.checked; });
  }
  countChosen(form);
});

// Keys: j and k move between cards; other keys press the card's button with that data-key.
const decided = [];
const cards = () => [...document.querySelectorAll("[data-card]")];

function currentCard() {
  return document.activeElement.closest?.("[data-card]");
}

function move(by) {
  const all = cards();
  if (!all.length) return;
  const at = all.indexOf(currentCard());
  const next = all[Math.min(Math.max(at + by, 0), all.length - 1)];
  next.focus();
  next.scrollIntoView({ block: "nearest" });
}

function press(key) {
  while (decided.length && !decided.at(-1).isConnected) decided.pop();
  const card = key === "u" ? decided.at(-1) : currentCard();
  const target = card?.querySelector(`[data-key="${key}"]`);
  if (!target) return false;
  target.click();
  if (key === "e") target.closest("details").querySelector("textarea").focus();
  return true;
}

// Focus the search field of this page, or open Memories if it has none.
function search() {
  const field = document.querySelector("[data-focus='/']");
  if (field) field.focus();
  else location.href = `${base}memories#q`;
}
if (location.hash === "#q") document.getElementById("q")?.focus();

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.key === "Escape" && document.activeElement.matches("textarea")) {
    const card = currentCard();
    document.activeElement.closest("details").open = false;
    card?.focus();
    return;
  }
  if (event.target.matches("input, textarea, select")) return;
  if (event.key === "/") {
    event.preventDefault();
    search();
  } else if (event.key === "j" || event.key === "k") {
    move(event.key === "j" ? 1 : -1);
  } else if (/^[aerul]$/.test(event.key) && cards().length && press(event.key)) {
    event.preventDefault();
  }
});

// After a decision, focus the next card; after an undo, the restored card. Keys then apply to that card.
document.body.addEventListener("htmx:load", (event) => {
  const card = event.detail.elt;
  if (!card.matches("[data-card]")) return;
  if (!card.matches(".decided")) {
    card.focus();
    return;
  }
  decided.push(card);
  const all = cards();
  const next = all.slice(all.indexOf(card)).find((other) => !other.matches(".decided"));
  (next ?? card).focus();
});

// Failed requests. One without a response, or with status 403, means that the page is closed or the daemon has stopped.
for (const name of ["htmx:sendError", "htmx:responseError"]) {
  document.body.addEventListener(name, (event) => {
    const status = event.detail.xhr?.status;
    showProblem(status && status !== 403 ? "That did not work. Reload the page." : "This page is closed. Run subconscious ui to open it again.");
  });
}

function showProblem(text) {
  const box = document.createElement("div");
  box.className = "notice problem";
  box.textContent = text;
  document.getElementById("notice").replaceChildren(box);
}

// Live updates reload the first page of the timeline. If the user has scrolled down, a button appears instead.
function listen(sign) {
  const items = document.getElementById("items");
  const fresh = document.getElementById("fresh");
  const show = () => { fresh.hidden = true; htmx.trigger(items, "news"); };
  const busy = () => items.contains(document.activeElement) || window.scrollY > 200;
  const news = new EventSource(sign.dataset.live);
  news.addEventListener("open", () => sign.classList.add("on"));
  news.addEventListener("error", () => sign.classList.remove("on"));
  news.addEventListener("changed", () => { if (busy()) fresh.hidden = false; else show(); });
  news.addEventListener("closed", () => {
    news.close();
    sign.classList.remove("on");
    showProblem("This page is closed. Run subconscious ui to open it again.");
  });
  fresh.addEventListener("click", () => { show(); window.scrollTo(0, 0); document.getElementById("main").focus(); });
}

// Charts of weights over days.
function drawCurve(box) {
  if (box.dataset.drawn) return;
  box.dataset.drawn = "yes";
  const points = JSON.parse(box.dataset.curve);
  const below = Number(box.dataset.below);
  const axis = { stroke: style("--soft"), grid: { stroke: style("--line"), width: 1 }, ticks: { show: false }, font: "12px system-ui" };
  const days = points.map((point) => point[0]);
  const weights = points.map((point) => 100 * point[1]);
  const made = new uPlot({
    width: box.clientWidth,
    height: 200,
    cursor: { show: false },
    legend: { show: false },
    scales: { x: { time: false }, y: { range: [0, 105] } },
    axes: [
      { ...axis, size: 30, values: (_, ticks) => ticks.map((day) => (day ? `${day} d` : "now")) },
      { ...axis, size: 44, values: (_, ticks) => ticks.map((value) => `${value} %`) },
    ],
    series: [
      {},
      { stroke: style("--accent"), width: 2 },
      { stroke: style("--bad"), width: 1, dash: [5, 4] },
    ],
  }, [days, weights, days.map(() => 100 * below)], box);
  window.addEventListener("resize", () => made.setSize({ width: box.clientWidth, height: 200 }));
}

// The graph: a click on a memory opens its own graph; pointing at a memory shows its text and its links.
const CROWDED = 14;

function nodeStyles(crowded) {
  return [
    { selector: "node", style: {
      label: crowded ? "" : "data(label)", "text-wrap": "wrap", "text-max-width": "130px", "text-valign": "bottom", "text-margin-y": 6,
      "font-size": 11, "font-family": "system-ui", color: style("--ink"), width: 16, height: 16,
      "background-color": style("--edge"), "text-background-color": style("--raised"), "text-background-opacity": 0.85, "text-background-padding": 2 } },
    { selector: "node[?old]", style: { color: style("--soft"), "border-width": 2, "border-style": "dashed", "border-color": style("--edge"), "background-color": style("--raised") } },
    { selector: "node[?root]", style: { "background-color": style("--accent"), label: "data(label)", width: 26, height: 26, "font-weight": 600, "z-index": 2 } },
  ];
}

function edgeStyles(crowded) {
  const coloured = (colour) => ({ "line-color": style(colour), "target-arrow-color": style(colour), color: style(colour) });
  return [
    { selector: "edge", style: {
      label: crowded ? "" : "data(label)", "font-size": 10, "font-family": "system-ui", color: style("--soft"), width: 1.5, "curve-style": "bezier",
      "line-color": style("--edge"), "target-arrow-color": style("--edge"), "target-arrow-shape": "triangle", "arrow-scale": 0.9,
      "text-background-color": style("--raised"), "text-background-opacity": 1, "text-background-padding": 2 } },
    { selector: "edge[type = 'SUPERSEDES']", style: coloured("--accent") },
    { selector: "edge[type = 'CONTRADICTS']", style: coloured("--bad") },
    { selector: "edge[?proposed]", style: { "line-style": "dashed" } },
    { selector: ".faint", style: { opacity: 0.15 } },
    { selector: "edge.pointed", style: { label: "data(label)", width: 2.5 } },
    { selector: "node.here", style: { label: "data(label)", "z-index": 3 } },
  ];
}

// Few memories are drawn as a tree. Many are drawn in rings, by the number of links between them and the middle.
function layoutOf(found, crowded) {
  const shared = { animate: false, padding: 24, avoidOverlap: true };
  if (!crowded) {
    const roots = found.nodes.filter((node) => node.root).map((node) => node.id);
    return { ...shared, name: "breadthfirst", roots, spacingFactor: 1.1, nodeDimensionsIncludeLabels: true };
  }
  return { ...shared, name: "concentric", concentric: (node) => 10 - node.data("distance"), levelWidth: () => 1, minNodeSpacing: 14, startAngle: 0 };
}

async function drawGraph(box) {
  const answer = await fetch(box.dataset.graph);
  if (!answer.ok) return;
  const found = await answer.json();
  const crowded = found.nodes.length > CROWDED;
  const drawing = cytoscape({
    container: box,
    elements: {
      nodes: found.nodes.map((node) => ({ data: node })),
      edges: found.edges.map((edge) => ({ data: edge })),
    },
    userZoomingEnabled: false,
    boxSelectionEnabled: false,
    autoungrabify: true,
    minZoom: 0.1,
    maxZoom: 4,
    style: [...nodeStyles(crowded), ...edgeStyles(crowded)],
    layout: layoutOf(found, crowded),
  });
  if (drawing.zoom() > 1.3) { drawing.zoom(1.3); drawing.center(); }
  point(drawing, document.querySelector("[data-pointed]"));
  zoom(drawing);
  box.dataset.drawn = "yes";
}

function point(drawing, line) {
  const usual = line.textContent;
  drawing.on("tap", "node", (event) => { location.href = `${base}graph?id=${encodeURIComponent(event.target.id())}`; });
  drawing.on("mouseover", "node", (event) => {
    const near = event.target.closedNeighborhood();
    drawing.elements().addClass("faint");
    near.removeClass("faint").addClass("pointed");
    event.target.addClass("here");
    line.textContent = event.target.data("label");
    drawing.container().style.cursor = "pointer";
  });
  drawing.on("mouseout", "node", () => {
    drawing.elements().removeClass("faint pointed here");
    line.textContent = usual;
    drawing.container().style.cursor = "";
  });
}

function zoom(drawing) {
  document.querySelectorAll("[data-zoom]").forEach((button) => button.addEventListener("click", () => {
    const by = Number(button.dataset.zoom);
    if (!by) { drawing.fit(undefined, 24); return; }
    drawing.zoom({ level: drawing.zoom() * by, renderedPosition: { x: drawing.width() / 2, y: drawing.height() / 2 } });
  }));
}

document.body.addEventListener("htmx:load", (event) => {
  event.detail.elt.querySelectorAll("[data-curve]").forEach(drawCurve);
});
// On a narrow screen, the current entry of the navigation may be out of view.
document.querySelectorAll(".bar [aria-current], .tabs [aria-current]").forEach((link) => {
  link.parentElement.scrollLeft = link.offsetLeft - (link.parentElement.clientWidth - link.offsetWidth) / 2;
});
document.querySelectorAll("[data-live]").forEach(listen);
document.querySelectorAll("[data-curve]").forEach(drawCurve);
document.querySelectorAll("[data-graph]").forEach(drawGraph);
document.querySelectorAll("[data-bulk]").forEach(countChosen);
