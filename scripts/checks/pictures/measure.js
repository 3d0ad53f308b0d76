// Runs inside a page. Finds labels that leave their picture and text that a reader cannot reach, and sends
// the list to the frame around the page.
'use strict';
function faults() {
  const found = [];
  const name = element => JSON.stringify(element.textContent.trim().slice(0, 40));
  const shown = element => element.getClientRects().length > 0;
  for (const details of document.querySelectorAll('details')) details.open = true;
  for (const svg of document.querySelectorAll('svg')) {
    if (!shown(svg)) continue;
    const frame = svg.getBoundingClientRect();
    const zoom = frame.width / svg.viewBox.baseVal.width;  // pictures shrink on narrow screens
    for (const text of svg.querySelectorAll('text')) {
      const box = text.getBoundingClientRect();
      // A box is as high as the line; the glyphs are lower.
      const slack = 0.35 * parseFloat(getComputedStyle(text).fontSize) * zoom;
      const beyond = Math.max(frame.left - box.left, box.right - frame.right,
                              frame.top - box.top - slack, box.bottom - frame.bottom - slack) / zoom;
      if (beyond > 0.5) found.push(`label ${name(text)} leaves its picture by ${beyond.toFixed(1)} px`);
    }
  }
  const scrolls = element => {
    for (let at = element.parentElement; at; at = at.parentElement)
      if (['auto', 'scroll'].includes(getComputedStyle(at).overflowX)) return at;
    return null;
  };
  for (const element of document.querySelectorAll('h1, h2, h3, p, dt, dd, th, td, pre, svg, select, button')) {
    if (!shown(element)) continue;
    const box = element.getBoundingClientRect();
    const beyond = Math.max(box.right - document.documentElement.clientWidth, -box.left);
    if (beyond > 0.5 && !scrolls(element))
      found.push(`<${element.localName}> ${name(element)} leaves the page by ${beyond.toFixed(1)} px`);
    const frame = element.matches('th, td') && scrolls(element)?.getBoundingClientRect();
    if (frame && box.right > frame.right + 0.5) found.push(`column ${name(element)} is cut off`);
  }
  const wide = document.documentElement.scrollWidth - innerWidth;
  if (wide > 0) found.push(`the page is ${wide} px wider than the screen`);
  return found;
}
// The switch between the scales must draw what regard itself draws on that scale: the brightest cell.
function scales() {
  const [choice] = document.querySelectorAll('.scale select');
  const found = [];
  const first = choice ? choice.value : '';
  for (const option of choice ? choice.options : []) {
    choice.value = option.value;
    choice.dispatchEvent(new Event('change'));
    for (const svg of document.querySelectorAll('svg')) {
      const levels = [...svg.querySelectorAll('.cells rect')].map(
        cell => parseInt(cell.getAttribute('fill').match(/\d+/)[0], 10));
      if (levels.length === 0) continue;
      const legend = svg.querySelector('.legend .white').textContent;
      const largest = parseFloat((legend.match(/0\.\d+|1\.00/) || ['1'])[0]);
      const expected = option.value === 'absolute' ? 255 * largest : 255;
      const brightest = Math.max(...levels);
      if (Math.abs(brightest - expected) > 1.5)
        found.push(`scale ${option.value}, "${legend}": the brightest cell is ${brightest} of 255`);
    }
  }
  if (choice) {
    choice.value = first;
    choice.dispatchEvent(new Event('change'));
  }
  return found;
}

addEventListener('load', () => setTimeout(() => {
  const labels = document.querySelectorAll('svg text').length;
  parent.postMessage({faults: [...faults(), ...scales()], labels, height: document.documentElement.scrollHeight}, '*');
}, 200));
