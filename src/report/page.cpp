#include "report/page.h"

#include <fmt/format.h>

#include "report/xml.h"

namespace regard {

const char* const page_style = R"css(
:root { color-scheme: light dark; --page: #fbfbfa; --card: #fff; --text: #1d1d1f; --soft: #66666c;
        --line: #e3e3e0; --mark: #b3470b; --glow: 255, 150, 60; --good: #00734f;
        --c0: #0072b2; --c1: #c24f00; --c2: #00805c; --c3: #b04f86; --c4: #2f8fc9; --c5: #a87400;
        --c6: #333; }
@media (prefers-color-scheme: dark) {
  :root { --page: #161618; --card: #1f1f22; --text: #ececef; --soft: #a2a2aa; --line: #3a3a41;
          --mark: #ffb27a; --glow: 190, 84, 8; --good: #4fd1a5;
          --c0: #56b4e9; --c1: #ff9248; --c2: #3ecf9f; --c3: #e69ac6; --c4: #8ccdf2; --c5: #f0c04a;
          --c6: #d5d5da; }
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body { margin: 0 auto; padding: 2rem 1.5rem 4rem; max-width: 1200px; background: var(--page);
       color: var(--text); font: 15px/1.5 system-ui, "Segoe UI", "Noto Sans", sans-serif; }
h1 { font-size: 1.5rem; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.05rem; margin: 0 0 .8rem; overflow-wrap: anywhere; }
h3 { font-size: .95rem; margin: 1.2rem 0 .4rem; overflow-wrap: anywhere; }
header { display: flex; flex-wrap: wrap; gap: .5rem 2rem; align-items: center;
         justify-content: space-between; margin-bottom: 1.5rem; }
.scale { display: flex; gap: .5rem; align-items: center; color: var(--soft); font-size: .85rem; }
section { background: var(--card); border: 1px solid var(--line); border-radius: 10px;
          padding: 1.2rem 1.4rem; margin-bottom: 1.2rem; }
.note { color: var(--soft); font-size: .88rem; margin: .2rem 0 .8rem; }
.matrices { display: flex; flex-wrap: wrap; gap: 1.5rem 2rem; align-items: flex-end; }
svg { max-width: 100%; height: auto; display: block; overflow: visible; }
.scroll { overflow: auto; max-height: 34rem; }
.scroll svg { max-width: none; }

.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(9.5rem, 1fr)); gap: .8rem;
         margin: 0; }
.facts dt { color: var(--soft); font-size: .82rem; }
.facts dd { margin: 0; font-size: 1.15rem; font-weight: 600; overflow-wrap: anywhere; }
table { border-collapse: collapse; font-size: .9rem; }
th { text-align: left; font-weight: 600; color: var(--soft); white-space: nowrap; }
th, td { padding: .25rem .9rem .25rem 0; vertical-align: top; border-bottom: 1px solid var(--line); }
td { overflow-wrap: anywhere; min-width: 3.2rem; }
th:last-child, td:last-child { padding-right: 0; }
.r { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
pre { overflow: auto; font: .82rem/1.45 ui-monospace, "DejaVu Sans Mono", monospace; margin: .6rem 0; }
details { margin-top: .9rem; }
summary { cursor: pointer; font-weight: 600; }
dl.pair { display: grid; grid-template-columns: auto 1fr; gap: .1rem .9rem; margin: .3rem 0 .7rem; }
dl.pair dt { color: var(--soft); font-size: .88rem; }
dl.pair dd { margin: 0; overflow-wrap: anywhere; }

.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 300px), 1fr));
          gap: 1rem 1.2rem; }
.chart { width: 100%; touch-action: pan-y; }
.charts .chart, .sides .chart { max-width: 480px; }
.sides .chart { flex: 1 1 20rem; }
.history .scroll { max-height: 15rem; }
.chart text { fill: var(--text); }
.grid { stroke: var(--line); }
.axis { stroke: var(--soft); }
.cursor { stroke: var(--soft); stroke-dasharray: 3 3; visibility: hidden; }
.mark { stroke: var(--card); }
.line.c0 { stroke: var(--c0); } .mark.c0, .band.c0 { fill: var(--c0); }
.line.c1 { stroke: var(--c1); } .mark.c1, .band.c1 { fill: var(--c1); }
.line.c2 { stroke: var(--c2); } .mark.c2, .band.c2 { fill: var(--c2); }
.line.c3 { stroke: var(--c3); } .mark.c3, .band.c3 { fill: var(--c3); }
.line.c4 { stroke: var(--c4); } .mark.c4, .band.c4 { fill: var(--c4); }
.line.c5 { stroke: var(--c5); } .mark.c5, .band.c5 { fill: var(--c5); }
.line.c6 { stroke: var(--c6); } .mark.c6, .band.c6 { fill: var(--c6); }

.sides { display: flex; flex-wrap: wrap; gap: 1.5rem 2.5rem; align-items: flex-start; }
.kinds { flex: 1 1 24rem; min-width: 0; max-width: 100%; }
.kind-choice { display: flex; gap: .5rem; align-items: center; color: var(--soft);
               font-size: .85rem; margin-bottom: .5rem; }
.viewer { flex: 1 1 24rem; min-width: 0; max-width: 100%; }
.alignment { flex: 0 1 auto; max-width: 100%; }
.controls { display: flex; flex-wrap: wrap; gap: .5rem 1rem; margin: .2rem 0 .6rem; }
.stepper { display: inline-flex; gap: .35rem; align-items: center; max-width: 100%; }
.stepper output { min-width: 7.5rem; text-align: center; font-size: .88rem; }
button, select { font: inherit; font-size: .88rem; color: inherit; background: var(--page);
                 border: 1px solid var(--line); border-radius: 6px; padding: .15rem .6rem; }
select { max-width: 100%; min-width: 0; }
.strip { line-height: 2; margin: 0 0 .3rem; }
.strip span { padding: .1rem .25rem; margin-right: .1rem; border-radius: 4px; white-space: pre;
              border: 1.5px solid transparent; background: rgba(var(--glow), var(--w, 0)); }
.strip .t { cursor: pointer; }
.strip .now, .strip .picked { border-color: var(--mark); }
.cells rect:hover, .veil rect:hover { stroke: var(--mark); stroke-width: .1; }
.row { fill: none; stroke: var(--mark); stroke-width: 1.5; pointer-events: none; }
.chosen { fill: #e8590c; stroke: #fff; stroke-width: .06; pointer-events: none; }
text.on { fill: var(--mark); font-weight: 700; }

.link { fill: none; stroke: var(--mark); }
.soft { fill: none; stroke: var(--c0); }
.key-link { color: var(--mark); font-weight: 700; }
.key-soft { color: var(--c0); font-weight: 700; }
.twig { fill: none; stroke: var(--soft); }
.twig.dead { opacity: .5; }
.node.dead { fill: var(--soft); }
.node.best { font-weight: 700; fill: var(--mark); }
.twig.best { stroke: var(--mark); }
#tip { position: fixed; display: none; pointer-events: none; padding: .25rem .6rem; z-index: 1;
       background: var(--text); color: var(--card); border-radius: 6px; font-size: .85rem;
       white-space: pre; }
@media (max-width: 600px) {
  body { padding: 1rem .7rem 3rem; }
  section { padding: .9rem .8rem; }
  .facts { grid-template-columns: repeat(auto-fill, minmax(7.5rem, 1fr)); }
  th, td { padding-right: .6rem; }
  th, .r { white-space: normal; }
}
)css";

// The script of every page. It finds elements by class, and does nothing if there are none.
const char* const page_script = R"js(
'use strict';
const tip = document.getElementById('tip');
let highlighted = [];  // the two words of the matrix cell under the pointer

function hideTip() {
  for (const word of highlighted) word.classList.remove('on');
  highlighted = [];
  tip.style.display = 'none';
}

function showTip(text) {
  tip.textContent = text;
  tip.style.display = 'block';
}

// Turns an element's <title> into the label that follows the pointer.
function label(element) {
  const title = element.querySelector('title');
  if (title) { element.label = title.textContent; title.remove(); }
  if (element.title) { element.label = element.title; element.removeAttribute('title'); }
  return element.label;
}

// Cell (t, s) of a matrix is at y = t, x = s.
document.addEventListener('pointerover', event => {
  hideTip();
  const hovered = event.target.closest('.cells rect, .veil rect, .node, .link, .soft, .strip span');
  if (!hovered || !label(hovered)) return;
  if (hovered.closest('.cells')) {
    const svg = hovered.closest('svg');
    highlighted = [svg.querySelectorAll('text.s')[hovered.x.baseVal.value],
                   svg.querySelectorAll('text.t')[hovered.y.baseVal.value]]
      .filter(Boolean);  // sounds have no words
    for (const word of highlighted) word.classList.add('on');
    hovered.parentNode.append(hovered);
  }
  showTip(hovered.label);
});

document.addEventListener('pointermove', event => {
  const left = Math.max(4, Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8));
  const below = event.clientY + 18;
  const above = event.clientY - tip.offsetHeight - 10;
  tip.style.left = left + 'px';
  tip.style.top = (below + tip.offsetHeight > innerHeight && above > 0 ? above : below) + 'px';
});

// Charts: shows the value of every series at the pointer. Each point is "x|y|name|value".
for (const chart of document.querySelectorAll('.chart')) {
  const cursor = chart.querySelector('.cursor');
  const series = [...chart.querySelectorAll('[data-values]')].map(line => ({
    name: line.dataset.name,
    points: line.dataset.values.split(';').map(point => {
      const [x, , name, value] = point.split('|');
      return {x: Number(x), name, value};
    }),
  }));
  const nearest = (points, x) => points.reduce(
    (best, point) => Math.abs(point.x - x) < Math.abs(best.x - x) ? point : best);
  chart.addEventListener('pointermove', event => {
    if (series.length === 0) return;
    const box = chart.getBoundingClientRect();
    const x = (event.clientX - box.left) * chart.viewBox.baseVal.width / box.width;
    const at = series.map(one => nearest(one.points, x));
    const here = nearest(at, x);
    for (const end of ['x1', 'x2']) cursor.setAttribute(end, here.x);
    cursor.style.visibility = 'visible';
    const lines = series.flatMap((one, i) => Math.abs(at[i].x - here.x) > 3 ? [] :
      [(one.name ? one.name + '  ' : '') + at[i].value]);
    showTip([chart.dataset.x + ' ' + here.name, ...lines].join('\n'));
  });
  chart.addEventListener('pointerleave', () => {
    cursor.style.visibility = 'hidden';
    hideTip();
  });
}

// The scale of the weights (absolute, picture or row) is selected in the header for the whole page.
// The element of each group of cells gets the properties cells, weights (row by row) and columns.
const [scale] = document.querySelectorAll('.scale select');
const selectedScale = () => scale ? scale.value : 'absolute';
const unit = 46655;  // weights are three digits of base 36, in 1/46655
const decode = codes => (codes.match(/.../g) || []).map(code => parseInt(code, 36) / unit);
const largest = weights => weights.reduce((max, w) => w > max ? w : max, 0);

// Returns the weight that is white in row t.
function white(group, t) {
  if (selectedScale() === 'absolute') return 1;
  const {weights, columns} = group;
  const row = weights.slice(t * columns, (t + 1) * columns);
  return largest(selectedScale() === 'row' ? row : weights) || 1;
}

function paint(group) {
  const whites = [];
  for (const [k, cell] of group.cells.entries()) {
    const t = Math.floor(k / group.columns);
    whites[t] ??= white(group, t);
    const level = Math.round(255 * Math.min(1, group.weights[k] / whites[t]));
    if (group.matches('.veil')) {
      if (!Number.isNaN(level)) cell.setAttribute('fill-opacity', .8 * (1 - level / 255));
    } else {
      cell.setAttribute('fill', Number.isNaN(level) ? '#c00' : `rgb(${level},${level},${level})`);
    }
  }
  const max = largest(group.weights);
  group.closest('svg').querySelector('.legend .white').textContent =
    selectedScale() === 'row' ? "the row's largest" :
    selectedScale() === 'absolute' ? `1 (largest here: ${max.toPrecision(3)})` :
    max > 0 ? max.toPrecision(3) + ' (the largest)' : '1 (no weight is above 0)';
}

for (const group of document.querySelectorAll('.veil[data-weights]')) {
  group.cells = [...group.querySelectorAll('rect')];
  group.weights = decode(group.dataset.weights);
  group.columns = group.cells.length / group.closest('svg').querySelectorAll('text.t').length;
  if (group.cells.length > 0) paint(group);
}
if (scale && document.querySelector('.cells rect, .veil rect')) scale.parentNode.hidden = false;
if (scale) scale.addEventListener('change', () => {
  for (const group of document.querySelectorAll('.cells, .veil'))
    if (group.cells.length > 0) paint(group);
  document.dispatchEvent(new Event('rescaled'));
});

// Several kinds of attention: shows the selected one.
for (const kinds of document.querySelectorAll('.kinds')) {
  const views = [...kinds.querySelectorAll('.kind')];
  const chooser = kinds.querySelector('.kind-choice select');
  const show = i => views.forEach((view, k) => { view.hidden = k !== i; });
  for (const view of views) view.querySelector('h3').hidden = true;
  chooser.selectedIndex = 0;
  chooser.parentNode.hidden = false;
  chooser.addEventListener('change', () => show(chooser.selectedIndex));
  show(0);
}

// Attention viewers. A selected target word highlights the source words by its weights on them. A
// source word under the pointer highlights the target words by their weights on it.
for (const viewer of document.querySelectorAll('.viewer')) {
  const maps = JSON.parse(viewer.dataset.maps);
  const source = [...viewer.querySelectorAll('.strip .s')];
  const target = [...viewer.querySelectorAll('.strip .t')];
  const cells = [...viewer.querySelectorAll('.cells rect')];
  const [chooser] = viewer.getElementsByTagName('select');
  const [position] = viewer.getElementsByTagName('output');
  const svg = viewer.querySelector('svg');
  const group = viewer.querySelector('.cells');
  const row = document.createElementNS(svg.namespaceURI, 'rect');
  row.setAttribute('class', 'row');
  svg.append(row);
  const marks = document.createElementNS(svg.namespaceURI, 'g');
  marks.setAttribute('transform', group.getAttribute('transform'));
  svg.append(marks);
  for (const mark of svg.querySelectorAll('.chosen')) mark.remove();
  const [left, top, size, height = size] =
    group.getAttribute('transform').match(/[\d.]+/g).map(Number);
  const S = source.length;
  let map = 0;
  let word = 0;

  group.cells = cells;
  group.columns = S;
  const weight = (t, s) => group.weights[t * S + s];
  const brightness = (t, s) => Math.min(1, weight(t, s) / white(group, t));
  const picked = t => maps[map].chosen ? maps[map].chosen[t] : -1;
  const shade = (spans, weights, now, other) => {
    spans.forEach((span, i) => {
      span.style.setProperty('--w', weights ? weights(i) : 0);
      span.classList.toggle('now', i === now);
      span.classList.toggle('picked', i === other);
    });
  };
  function showTarget(t) {
    word = t;
    shade(source, s => brightness(t, s), -1, picked(t));
    shade(target, null, t, -1);
    position.textContent = `word ${t + 1} of ${target.length}`;
    for (const [name, value] of [['x', left], ['y', top + t * height], ['width', S * size],
                                 ['height', height]]) row.setAttribute(name, value);
  }
  function showSource(s) {
    shade(target, t => brightness(t, s), -1, -1);
    shade(source, null, s, -1);
  }
  function showMap(i) {
    map = i;
    chooser.selectedIndex = i;
    group.weights = decode(maps[i].weights);
    paint(group);
    const name = span => span.firstChild.textContent;
    cells.forEach((cell, k) => {
      const t = Math.floor(k / S);
      const w = weight(t, k % S);
      if (map > 0 || cell.label) {
        label(cell);
        cell.label = `${name(target[t])} ← ${name(source[k % S])}  ${w.toFixed(3)}`;
      }
    });
    marks.replaceChildren();
    for (const [t, s] of (maps[map].chosen || []).entries()) {
      if (s === -1) continue;
      const mark = document.createElementNS(svg.namespaceURI, 'circle');
      mark.setAttribute('class', 'chosen');
      for (const [name, value] of [['cx', s + .5], ['cy', t + .5], ['r', .26]])
        mark.setAttribute(name, value);
      marks.append(mark);
    }
    showTarget(word);
  }
  // Turns -1 into the last index and `count` into the first.
  const wrap = (i, count) => (i + count) % count;

  chooser.addEventListener('change', () => showMap(chooser.selectedIndex));
  for (const button of viewer.querySelectorAll('button')) {
    const by = Number(button.dataset.by);
    button.addEventListener('click', () => button.dataset.go === 'map'
      ? showMap(wrap(map + by, maps.length)) : showTarget(wrap(word + by, target.length)));
  }
  target.forEach((span, t) => {
    span.addEventListener('pointerenter', () => showTarget(t));
    span.addEventListener('click', () => showTarget(t));
  });
  source.forEach((span, s) => {
    span.addEventListener('pointerenter', () => showSource(s));
    span.addEventListener('pointerleave', () => showTarget(word));
  });
  cells.forEach((cell, k) => {
    cell.addEventListener('pointerenter', () => showTarget(Math.floor(k / S)));
  });
  viewer.addEventListener('keydown', event => {
    const by = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (!by || event.target === chooser) return;
    showTarget(wrap(word + by, target.length));
    event.preventDefault();
  });
  if (target.length > 0) {
    showMap(0);
    document.addEventListener('rescaled', () => showTarget(word));
  }
}
)js";

std::string html_page(const std::string& title, const std::string& header,
                      const std::string& body) {
  std::string page = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n";
  page += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n";
  page += fmt::format("<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n", escape_xml(title),
                      page_style);
  page += fmt::format("<header><h1>{}</h1>\n{}</header>\n{}", escape_xml(title), header, body);
  page +=
      fmt::format("<div id=\"tip\"></div>\n<script>{}</script>\n</body>\n</html>\n", page_script);
  return page;
}

std::string page_section(const std::string& heading, const std::string& body) {
  if (body.empty()) return "";
  const auto head = heading.empty() ? "" : fmt::format("<h2>{}</h2>\n", escape_xml(heading));
  return fmt::format("<section>\n{}{}</section>\n", head, body);
}

std::string page_details(const std::string& heading, const std::string& body) {
  return fmt::format("<details>\n<summary>{}</summary>\n{}</details>\n", escape_xml(heading), body);
}

std::string page_note(const std::string& text) {
  return fmt::format("<p class=\"note\">{}</p>\n", escape_xml(text));
}

}  // namespace regard
