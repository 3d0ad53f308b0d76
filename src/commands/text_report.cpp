#include "commands/text_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "commands/evaluation_tables.h"
#include "metrics/bleu.h"
#include "metrics/chrf.h"
#include "metrics/significance.h"
#include "report/line_chart.h"
#include "report/page.h"
#include "report/table.h"
#include "report/xml.h"
#include "text/unicode.h"

namespace regard {
namespace {

constexpr std::size_t most_parts = 5;

std::size_t words_in(const std::string& line) {
  return split_words(decode_utf8(line)).size();
}

// Buckets with about as many sentences each, from the shortest source to the longest.
std::vector<LengthBucket> buckets_of(std::vector<std::size_t> lengths) {
  std::ranges::sort(lengths);
  std::vector<LengthBucket> buckets(1);
  for (std::size_t part = 1; part < most_parts; ++part) {
    const auto edge = lengths[part * lengths.size() / most_parts];
    if (edge == lengths.back() || edge < std::max<std::size_t>(1, buckets.back().shortest))
      continue;
    buckets.back().longest = edge;
    buckets.emplace_back().shortest = edge + 1;
  }
  buckets.front().shortest = lengths.front();
  return buckets;
}

// The counts of the sentences in a bucket.
SentenceCounts counts_in(const LengthBucket& bucket, const std::vector<std::size_t>& lengths,
                         const SentenceCounts& all) {
  SentenceCounts counts{all.width, {}};
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] < bucket.shortest || lengths[i] > bucket.longest.value_or(lengths[i])) continue;
    const auto one = all.of(i);
    counts.values.insert(counts.values.end(), one.begin(), one.end());
  }
  return counts;
}

std::string sentence_html(const ScoredText& text, std::size_t i, double chrf) {
  return fmt::format("<h3>line {}: chrF {:.1f}</h3>\n", i + 1, chrf) +
         pairs_html({{"source", text.sources[i]},
                     {"reference", text.references[i]},
                     {"translation", text.hypotheses[i]}});
}

}  // namespace

std::string pairs_html(const std::vector<std::pair<std::string, std::string>>& pairs) {
  std::string html = "<dl class=\"pair\">\n";
  for (const auto& [name, value] : pairs)
    html += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape_xml(name), escape_xml(value));
  return html + "</dl>\n";
}

std::string by_length_html(const ScoredText& text) {
  if (text.sources.empty()) return "";
  std::vector<std::size_t> lengths;
  for (const auto& source : text.sources) lengths.push_back(words_in(source));
  const Bleu bleu;
  const auto counts = bleu.count(text.hypotheses, {text.references});
  LineChart chart;
  chart.width = 420;  // not much more than a telephone's
  chart.height = 200;
  chart.x_label = "source words";
  chart.y_min = 0;
  Series series{"BLEU, 95 % confidence", {}};
  Table table({{"source words"},
               {"sentences", Align::right},
               {"BLEU", Align::right},
               {"95 % confidence", Align::right}});
  for (const auto& bucket : buckets_of(lengths)) {
    const auto part = counts_in(bucket, lengths, counts);
    const auto score = bleu.score(part.sum());
    const auto interval = confidence_interval(bootstrap_scores(bleu, part, {}));
    const auto x = static_cast<double>(series.points.size());
    const auto low = std::max(0.0, interval.mean - interval.half_width);
    const auto high = std::min(100.0, interval.mean + interval.half_width);
    series.points.emplace_back(x, score);
    series.band.emplace_back(low, high);
    chart.x_ticks.emplace_back(x, name_of(bucket));
    table.add({name_of(bucket), fmt::format("{}", part.sentences()), fmt::format("{:.2f}", score),
               fmt::format("{:.2f} – {:.2f}", low, high)});
  }
  chart.series.push_back(std::move(series));
  return page_note(text.name) + "<div class=\"sides\">\n" + line_chart_html(chart) + table.html() +
         "</div>\n";
}

std::string extremes_html(const ScoredText& text, std::size_t count) {
  std::vector<double> chrf;
  for (std::size_t i = 0; i < text.sources.size(); ++i)
    chrf.push_back(sentence_chrf(text.hypotheses[i], {text.references[i]}));
  std::vector<std::size_t> order(chrf.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](auto a, auto b) { return chrf[a] > chrf[b]; });
  const auto shown = std::min(count, order.size() / 2);
  std::string best;
  std::string worst;
  for (std::size_t k = 0; k < shown; ++k) {
    best += sentence_html(text, order[k], chrf[order[k]]);
    const auto last = order[order.size() - 1 - k];
    worst += sentence_html(text, last, chrf[last]);
  }
  if (shown == 0) return "";
  return page_note(text.name + "; by chrF of the sentence") + page_details("Worst", worst) +
         page_details("Best", best);
}

}  // namespace regard
