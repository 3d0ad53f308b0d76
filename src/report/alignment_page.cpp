#include "report/alignment_page.h"

#include "report/xml.h"

namespace regard {
namespace {

constexpr const char* style = R"css(
:root { color-scheme: light dark; --page: #fbfbfa; --card: #fff; --text: #1d1d1f; --soft: #6b6b70;
        --line: #e3e3e0; --mark: #b3470b; }
@media (prefers-color-scheme: dark) {
  :root { --page: #161618; --card: #1f1f22; --text: #ececef; --soft: #9c9ca3; --line: #34343a;
          --mark: #ffb27a; }
}
body { margin: 0 auto; padding: 2rem 1.5rem 4rem; max-width: 1200px; background: var(--page);
       color: var(--text); font: 15px/1.5 system-ui, "Segoe UI", "Noto Sans", sans-serif; }
h1 { font-size: 1.5rem; margin: 0; }
h2 { font-size: 1rem; margin: 0 0 1rem; overflow-wrap: anywhere; }
header { display: flex; flex-wrap: wrap; gap: .5rem 2rem; align-items: center;
         justify-content: space-between; margin-bottom: 1.5rem; }
.scale { display: flex; gap: .5rem; align-items: center; color: var(--soft); font-size: .85rem; }
.scale i { width: 8rem; height: .8rem; border: 1px solid var(--line);
           background: linear-gradient(90deg, #000, #fff); }
section { background: var(--card); border: 1px solid var(--line); border-radius: 10px;
          padding: 1.2rem 1.4rem; margin-bottom: 1.2rem; }
.matrices { display: flex; flex-wrap: wrap; gap: 1.5rem 2rem; align-items: flex-end; }
svg { max-width: 100%; height: auto; display: block; }
.cells rect:hover { stroke: var(--mark); stroke-width: .1; }
text.on { fill: var(--mark); font-weight: 700; }
#tip { position: fixed; display: none; pointer-events: none; padding: .25rem .6rem; z-index: 1;
       background: var(--text); color: var(--card); border-radius: 6px; font-size: .85rem;
       white-space: pre; }
)css";

// Cell (t, s) stands at y = t, x = s. Its tooltip becomes the label that follows the pointer.
constexpr const char* script = R"js(
const tip = document.getElementById('tip');
let lit = [];
function leave() {
  for (const word of lit) word.classList.remove('on');
  lit = [];
  tip.style.display = 'none';
}
document.addEventListener('mouseover', event => {
  leave();
  const cell = event.target.closest('.cells rect');
  if (!cell) return;
  const title = cell.querySelector('title');
  if (title) { cell.label = title.textContent; title.remove(); }
  const svg = cell.closest('svg');
  lit = [svg.querySelectorAll('text.s')[cell.x.baseVal.value],
         svg.querySelectorAll('text.t')[cell.y.baseVal.value]];
  for (const word of lit) word.classList.add('on');
  cell.parentNode.append(cell);
  tip.textContent = cell.label;
  tip.style.display = 'block';
});
document.addEventListener('mousemove', event => {
  const left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8);
  tip.style.left = left + 'px';
  tip.style.top = (event.clientY + 18) + 'px';
});
)js";

}  // namespace

std::string alignment_page(const std::string& title, const std::string& body) {
  std::string page = "<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"utf-8\"/>\n";
  page += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n";
  page +=
      "<title>" + escape_xml(title) + "</title>\n<style>" + style + "</style>\n</head>\n<body>\n";
  page += "<header><h1>" + escape_xml(title) + "</h1>\n";
  page += "<div class=\"scale\">weight 0 <i></i> 1</div></header>\n" + body;
  page +=
      "<div id=\"tip\"></div>\n<script>" + std::string(script) + "</script>\n</body>\n</html>\n";
  return page;
}

}  // namespace regard
