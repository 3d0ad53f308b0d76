#include "commands/translate/attention_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/log.h"
#include "base/strings.h"
#include "commands/model_report.h"
#include "commands/translate/attention_selection.h"
#include "decoding/hypothesis.h"
#include "report/attention_viewer.h"
#include "report/image_attention.h"
#include "report/page.h"
#include "report/search_tree_picture.h"
#include "report/table.h"
#include "report/xml.h"
#include "translation/word_alignment.h"

namespace regard {
namespace {

constexpr std::size_t max_sentences = 50;
constexpr std::size_t max_bytes_with_self_attention = std::size_t{16} << 20;

using Row = std::vector<float>;
using RowFunction = std::function<Row(const ExplainedStep&)>;
using ChoiceFunction = std::function<std::int64_t(const ExplainedStep&)>;

AttentionMatrix make_map(const std::string& caption, const Explanation& explanation,
                         const RowFunction& row, const ChoiceFunction& choice = {}) {
  AttentionMatrix matrix;
  matrix.caption = caption;
  for (const auto& step : explanation.steps) {
    const auto weights = row(step);
    matrix.weights.insert(matrix.weights.end(), weights.begin(), weights.end());
    if (choice) matrix.chosen.push_back(choice(step));
  }
  return matrix;
}

Row softmax(Row scores) {
  const float largest = *std::max_element(scores.begin(), scores.end());
  float sum = 0;
  for (auto& score : scores) sum += score = std::exp(score - largest);
  for (auto& score : scores) score /= sum;
  return scores;
}

std::int64_t argmax(const Row& row) {
  return std::max_element(row.begin(), row.end()) - row.begin();
}

// Returns (1 − p_gen) α, the probability of copying each source token.
Row copy_weights(const ExplainedStep& step) {
  auto row = step.weights;
  for (auto& weight : row) weight *= static_cast<float>(1 - step.p_gen.value_or(1));
  return row;
}

// Returns the weights that the word alignment is computed from: a pointer's distribution or,
// without a pointer, the attention.
std::vector<Row> link_weights(const Explanation& explanation) {
  std::vector<Row> rows;
  for (const auto& step : explanation.steps)
    rows.push_back(step.pointer.empty() ? step.weights : step.pointer);
  return rows;
}

std::vector<std::string> step_tokens(const Explanation& explanation) {
  std::vector<std::string> tokens;
  for (const auto& step : explanation.steps) tokens.push_back(step.token);
  return tokens;
}

std::string word_alignment_html(const Explanation& explanation, const DataOptions& data) {
  const auto rows = link_weights(explanation);
  const auto tokens = step_tokens(explanation);
  const auto source =
      group_into_words(explanation.source_tokens, source_token_kind(data), explanation.tags);
  const auto target = group_into_words(tokens, data.tokenizer.kind);
  AlignmentLines lines{
      word_texts(explanation.source_tokens, source_token_kind(data), explanation.tags),
      word_texts(tokens, data.tokenizer.kind),
      word_weights(rows, source, target),
      {}};
  for (const auto& link : hard_alignment(lines.weights))
    lines.links.emplace_back(link.source, link.target);
  return "<div class=\"alignment\">\n" + alignment_lines(lines) +
         "<p class=\"note\"><span class=\"key-soft\">━</span> attention (0.05 and more) <span "
         "class=\"key-link\">─</span> most attended word</p>\n</div>\n";
}

AttentionView source_view(const Explanation& explanation, const DataOptions& data,
                          std::vector<AttentionMatrix> maps, WeightScale scale) {
  std::vector<std::string> notes;
  for (const auto& step : explanation.steps) {
    notes.push_back(fmt::format("P {:.3f}", step.probability));
    if (step.p_gen) notes.back() += fmt::format("\nfrom the vocabulary {:.3f}", *step.p_gen);
  }
  return {"to the source",
          {"", token_labels(explanation.source_tokens, source_token_kind(data)),
           token_labels(step_tokens(explanation), data.tokenizer.kind), std::move(maps), scale,
           explanation.column_seconds},
          notes};
}

// Returns a view of the encoder and one of the decoder, if they have self-attention.
std::vector<AttentionView> self_attention_views(const LoadedModel& model,
                                                const Translator& translator,
                                                const std::string& line,
                                                const Translation& translation, WeightScale scale) {
  const auto& options = model.contents.options.model;
  if (head_counts(AttentionMap::encoder, options).layers == 0 &&
      head_counts(AttentionMap::decoder, options).layers == 0) {
    return {};
  }
  const auto tokenizer_kind = model.contents.options.data.tokenizer.kind;
  const auto own = self_attention(model.contents, model.device, translator.packed_weights(), line,
                                  translation, /*index=*/0);
  std::vector<AttentionView> views;
  const auto add = [&](const std::string& name, const std::vector<std::string>& tokens,
                       const HeadWeights& weights) {
    if (weights.empty()) return;
    auto maps = head_matrices(weights);
    maps.insert(maps.begin(), mean_of_last_layer(weights));
    views.push_back(
        {name, self_attention_picture(token_labels(tokens, tokenizer_kind), std::move(maps))});
    views.back().picture.scale = scale;
  };
  add("encoder self-attention", own.source_tokens, own.encoder);
  add("decoder self-attention", own.inputs, own.decoder);
  return views;
}

std::string n_best_html(const Translation& translation, const Translator& translator) {
  // Minimum Bayes risk ranks by the expected utility.
  const bool mbr = translation.hypotheses[0].expected_utility.has_value();
  Table table({{"", Align::right},
               {mbr ? "expected utility" : "score", Align::right},
               {"log P", Align::right},
               {"translation"}});
  for (std::size_t k = 0; k < translation.hypotheses.size(); ++k) {
    const auto& hypothesis = translation.hypotheses[k];
    table.add({fmt::format("{}", k + 1), fmt::format("{:.4f}", ranking_score(hypothesis)),
               fmt::format("{:.4f}", hypothesis.log_probability),
               translator.text(hypothesis, translation) + (hypothesis.finished ? "" : " …")});
  }
  return table.html();
}

std::string tree_html(const SearchTree& tree, const Translation& translation,
                      const Translator& translator) {
  SearchTreePicture picture;
  for (const auto& node : tree.nodes) {
    // A hypothesis of this token alone, to get its text. The token of a finished node is </s>.
    Hypothesis single;
    single.finished = node.score.has_value();
    if (!single.finished) single.tokens = {static_cast<std::int32_t>(node.token)};
    picture.nodes.push_back({translator.tokens(single, translation).front(), node.previous,
                             node.log_probability, node.score});
  }
  return "<div class=\"scroll\" tabindex=\"0\">" + search_tree_svg(picture) + "</div>\n";
}

}  // namespace

std::vector<AttentionMatrix> attention_maps(const Explanation& explanation,
                                            const ModelOptions& options) {
  std::vector<AttentionMatrix> maps;
  if (explanation.steps.empty()) return maps;
  const auto& first = explanation.steps[0];
  const auto weights = [](const ExplainedStep& step) { return step.weights; };
  if (!first.pointer.empty()) {
    maps.push_back(make_map(
        "pointer: P(position), ● the chosen position", explanation,
        [](const auto& step) { return step.pointer; },
        [](const auto& step) { return step.selected_position; }));
  }
  if (first.weights.empty()) return maps;
  const auto kind = attention_kind(options);
  if (first.is_hard) {
    maps.push_back(make_map(
        kind + ": P(position), ● the chosen position", explanation,
        [](const auto& step) { return softmax(step.scores); },
        [](const auto& step) { return argmax(step.weights); }));
  } else if (first.heads.size() > 1) {
    maps.push_back(make_map("last layer, mean of its heads", explanation, weights));
  } else {
    maps.push_back(make_map(first.heads.empty() ? "attention: " + kind : "mean of the heads",
                            explanation, weights));
  }
  const auto heads = head_matrices(source_heads(explanation));
  maps.insert(maps.end(), heads.begin(), heads.end());
  if (first.p_gen) maps.push_back(make_map("copied: (1 − p_gen) α", explanation, copy_weights));
  return maps;
}

std::string sentence_html(const LoadedModel& model, const Translator& translator,
                          const std::string& line, const Translation& translation,
                          WeightScale scale, std::size_t room) {
  const auto explanation = explain(model.contents, model.device, line, translation);
  auto html = fmt::format(
      "<dl class=\"pair\"><dt>source</dt><dd>{}</dd><dt>translation</dt><dd>{}</dd></dl>\n",
      escape_xml(line), escape_xml(translation.text));
  auto maps = attention_maps(explanation, model.contents.options.model);
  const bool has_source_view = !maps.empty();
  std::vector<AttentionView> views;
  if (has_source_view)
    views.push_back(source_view(explanation, model.contents.options.data, std::move(maps), scale));
  const auto& codec = model.contents.codec;
  const auto image = has_source_view ? source_image(codec, line) : std::nullopt;
  if (image) {
    views.front().picture.image = image;
    views.front().picture.grid_rows = static_cast<std::size_t>(codec.grid.rows);
    html +=
        "<div class=\"matrices\">\n" + image_attention_elements(views.front().picture) + "</div>\n";
    views.clear();
  }
  const auto own = self_attention_views(model, translator, line, translation, scale);
  auto all = views;
  all.insert(all.end(), own.begin(), own.end());
  auto viewers = attention_viewers(all);
  if (!own.empty() && viewers.size() > room) {
    viewers = attention_viewers(views) +
              page_note("Self-attention is left out, because the page would be too large.");
  }
  if (!viewers.empty()) {
    html +=
        "<div class=\"sides\">\n" + viewers +
        (has_source_view && !image ? word_alignment_html(explanation, model.contents.options.data)
                                   : "") +
        "</div>\n";
  }
  html += page_details(fmt::format("{} best", translation.hypotheses.size()),
                       n_best_html(translation, translator));
  if (const auto& tree = translation.hypotheses[0].tree) {
    html += page_details(
        fmt::format("The search: {}, step by step", counted(tree->nodes.size(), "hypothesis")),
        tree_html(*tree, translation, translator));
  }
  return html;
}

ReportOutput::ReportOutput(const std::string& path, const LoadedModel& model,
                           const Translator& translator, WeightScale scale)
    : file_(path), model_(model), translator_(translator), scale_(scale) {}

void ReportOutput::add(std::int64_t number, const std::string& line,
                       const Translation& translation) {
  if (translation.hypotheses.empty() || sentences_++ >= max_sentences) return;
  const auto room =
      max_bytes_with_self_attention - std::min(max_bytes_with_self_attention, body_.size());
  body_ += page_section(fmt::format("Line {}", number),
                        sentence_html(model_, translator_, line, translation, scale_, room));
}

void ReportOutput::commit() {
  const auto& name = model_.contents.options.name;
  file_.write(html_page("Translations of " + name, scale_switch(scale_), body_));
  file_.commit();
  if (sentences_ > max_sentences) {
    log::info("The report shows the first {} sentences; {} are left out.", max_sentences,
              sentences_ - max_sentences);
  }
}

}  // namespace regard
