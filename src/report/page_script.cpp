// The script of every page. It finds elements by class, and does nothing if there are none.
#include "report/page.h"

namespace regard {

const char* const page_script = R"js(
'use strict';
const tip = document.getElementById('tip');
let lit = [];

function leave() {
  for (const word of lit) word.classList.remove('on');
  lit = [];
  tip.style.display = 'none';
}

function tell(text) {
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
  leave();
  const told = event.target.closest('.cells rect, .node, .link, .soft, .strip span');
  if (!told || !label(told)) return;
  if (told.tagName === 'rect') {
    const svg = told.closest('svg');
    lit = [svg.querySelectorAll('text.s')[told.x.baseVal.value],
           svg.querySelectorAll('text.t')[told.y.baseVal.value]];
    for (const word of lit) word.classList.add('on');
    told.parentNode.append(told);
  }
  tell(told.label);
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
    tell([chart.dataset.x + ' ' + here.name, ...lines].join('\n'));
  });
  chart.addEventListener('pointerleave', () => {
    cursor.style.visibility = 'hidden';
    leave();
  });
}

// The scale of the weights (absolute, picture or row) is selected in the header for the whole page.
// Each group of cells stores its weights, row by row, and the number of columns.
const [scale] = document.querySelectorAll('.scale select');
const chosen = () => scale ? scale.value : 'absolute';
const unit = 46655;  // weights are three digits of base 36, in 1/46655
const decode = codes => (codes.match(/.../g) || []).map(code => parseInt(code, 36) / unit);
const largest = weights => weights.reduce((max, w) => w > max ? w : max, 0);

// Returns the weight that is white in row t.
function white(group, t) {
  if (chosen() === 'absolute') return 1;
  const {weights, columns} = group;
  return largest(chosen() === 'row' ? weights.slice(t * columns, (t + 1) * columns) : weights) || 1;
}

function paint(group) {
  const whites = [];
  for (const [k, cell] of group.cells.entries()) {
    const t = Math.floor(k / group.columns);
    whites[t] ??= white(group, t);
    const level = Math.round(255 * Math.min(1, group.weights[k] / whites[t]));
    cell.setAttribute('fill', Number.isNaN(level) ? '#c00' : `rgb(${level},${level},${level})`);
  }
  const max = largest(group.weights);
  group.closest('svg').querySelector('.legend .white').textContent =
    chosen() === 'row' ? "the row's largest" :
    chosen() === 'absolute' ? `1 (largest here: ${max.toPrecision(3)})` :
    max > 0 ? max.toPrecision(3) + ' (the largest)' : '1 (no weight is above 0)';
}

for (const group of document.querySelectorAll('.cells[data-weights]')) {
  group.cells = [...group.querySelectorAll('rect')];
  group.weights = decode(group.dataset.weights);
  group.columns = group.closest('svg').querySelectorAll('text.s').length;
  if (group.cells.length > 0) paint(group);
}
if (scale && document.querySelector('.cells rect')) scale.parentNode.hidden = false;
if (scale) scale.addEventListener('change', () => {
  for (const group of document.querySelectorAll('.cells')) if (group.cells.length > 0) paint(group);
  document.dispatchEvent(new Event('rescaled'));
});

// Attention viewers: a target word highlights source words by its weights on them, a source word the
// target words by their weights on it.
for (const viewer of document.querySelectorAll('.viewer')) {
  const maps = JSON.parse(viewer.dataset.maps);
  const source = [...viewer.querySelectorAll('.strip .s')];
  const target = [...viewer.querySelectorAll('.strip .t')];
  const cells = [...viewer.querySelectorAll('.cells rect')];
  const [chooser] = viewer.getElementsByTagName('select');
  const [place] = viewer.getElementsByTagName('output');
  const svg = viewer.querySelector('svg');
  const group = viewer.querySelector('.cells');
  const row = document.createElementNS(svg.namespaceURI, 'rect');
  row.setAttribute('class', 'row');
  svg.append(row);
  const marks = document.createElementNS(svg.namespaceURI, 'g');
  marks.setAttribute('transform', group.getAttribute('transform'));
  svg.append(marks);
  for (const mark of svg.querySelectorAll('.chosen')) mark.remove();
  const [left, top, size] = group.getAttribute('transform').match(/[\d.]+/g).map(Number);
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
  function look(t) {
    word = t;
    shade(source, s => brightness(t, s), -1, picked(t));
    shade(target, null, t, -1);
    place.textContent = `word ${t + 1} of ${target.length}`;
    for (const [name, value] of [['x', left], ['y', top + t * size], ['width', S * size],
                                 ['height', size]]) row.setAttribute(name, value);
  }
  function lookAt(s) {
    shade(target, t => brightness(t, s), -1, -1);
    shade(source, null, s, -1);
  }
  function show(i) {
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
      for (const [name, value] of [['cx', s + .5], ['cy', t + .5], ['r', .26]]) mark.setAttribute(name, value);
      marks.append(mark);
    }
    look(word);
  }
  const around = (i, count) => (i + count) % count;

  chooser.addEventListener('change', () => show(chooser.selectedIndex));
  for (const button of viewer.querySelectorAll('button')) {
    const by = Number(button.dataset.by);
    button.addEventListener('click', () => button.dataset.go === 'map'
      ? show(around(map + by, maps.length)) : look(around(word + by, target.length)));
  }
  target.forEach((span, t) => {
    span.addEventListener('pointerenter', () => look(t));
    span.addEventListener('click', () => look(t));
  });
  source.forEach((span, s) => {
    span.addEventListener('pointerenter', () => lookAt(s));
    span.addEventListener('pointerleave', () => look(word));
  });
  cells.forEach((cell, k) => cell.addEventListener('pointerenter', () => look(Math.floor(k / S))));
  viewer.addEventListener('keydown', event => {
    const by = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (!by || event.target === chooser) return;
    look(around(word + by, target.length));
    event.preventDefault();
  });
  if (target.length > 0) {
    show(0);
    document.addEventListener('rescaled', () => look(word));
  }
}
)js";

}  // namespace regard
