#include "commands/translate/attention_output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/strings.h"
#include "base/terminal.h"
#include "commands/model_report.h"
#include "report/format.h"
#include "report/heat_map.h"
#include "translation/word_alignment.h"

namespace regard {
namespace {

constexpr float dark = 0.2F;  // a picture whose largest weight is below this is nearly black

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return path.ends_with('/') || std::filesystem::is_directory(path, ignored);
}

// Converts a matrix, row by row, to an array of its rows.
Json rows_json(std::span<const float> weights, std::size_t columns) {
  auto rows = Json::array();
  for (std::size_t i = 0; i < weights.size(); i += columns) {
    rows.push_back(weights_json(weights.subspan(i, columns)));
  }
  return rows;
}

Json heads_json(const HeadWeights& weights, std::size_t columns) {
  auto layers = Json::array();
  for (const auto& layer : weights) {
    layers.push_back(Json::array());
    for (const auto& head : layer) layers.back().push_back(rows_json(head, columns));
  }
  return layers;
}

// Throws ConfigError if the attention to the source is selected and the model has none.
void check_selection(const LoadedModel& model, const AttentionSelection& selection,
                     const std::string& option) {
  if (selection.has(AttentionMap::source)) require_attention(model, option);
}

}  // namespace

void require_attention(const LoadedModel& model, const std::string& option) {
  if (model.contents.model->has_attention_weights()) return;
  const auto& options = model.contents.options.model;
  const auto why = options.kind == ModelKind::translation
                       ? "model.attention.kind: " + attention_kind(options)
                       : fmt::format("model.kind: {}", enum_name(options.kind));
  throw ConfigError("{}: the model {} has no attention to a source ({})", option,
                    model.path.string(), why);
}

// Checks the model before OutputFile creates a file.
AlignmentOutput::AlignmentOutput(const std::string& path, const LoadedModel& model)
    : file_((require_attention(model, "--alignments"), path)),
      options_(model.contents.options.data) {}

void AlignmentOutput::write(const Translation& translation, const Translator& translator,
                            std::size_t n_best) {
  const auto count = std::min(n_best, translation.hypotheses.size());
  if (count == 0) file_.write("\n");
  for (std::size_t k = 0; k < count; ++k) {
    const auto& hypothesis = translation.hypotheses[k];
    file_.write(to_pharaoh(align_words(hypothesis, translation,
                                       translator.tokens(hypothesis, translation), options_)) +
                "\n");
  }
}

// Checks the model before OutputFile creates a file.
WeightsOutput::WeightsOutput(const std::string& path, const LoadedModel& model,
                             const AttentionSelection& selection)
    : file_((check_selection(model, selection, "--attention-weights"), path)),
      selection_(selection) {}

void WeightsOutput::write(std::int64_t number, const std::string& line,
                          const Translation& translation, const Translator& translator,
                          std::size_t n_best) {
  const auto count = std::min(n_best, translation.hypotheses.size());
  for (std::size_t k = 0; k < std::max<std::size_t>(1, count); ++k) {
    const bool is_blank = k >= count;
    ExplainedSelfAttention own;
    if (selection_.has_self_attention() && !is_blank) {
      own = selection_.self_attention(line, translation, k);
    }
    Json object = {{"line", number}};
    if (n_best > 1) object["hypothesis"] = k + 1;
    object["source"] =
        selection_.has_self_attention() ? own.source_tokens : translation.source_tokens;
    object["target"] = Json::array();
    if (selection_.has(AttentionMap::source)) object["weights"] = Json::array();
    if (!is_blank) {
      const auto& hypothesis = translation.hypotheses[k];
      object["target"] = translator.tokens(hypothesis, translation);
      if (selection_.has(AttentionMap::source)) {
        for (const auto& row : hypothesis.weights) object["weights"].push_back(weights_json(row));
      }
    }
    if (selection_.has(AttentionMap::encoder)) {
      object["encoder"] = heads_json(own.encoder, own.source_tokens.size());
    }
    if (selection_.has(AttentionMap::decoder)) {
      object["inputs"] = own.inputs;
      object["decoder"] = heads_json(own.decoder, own.inputs.size());
    }
    file_.write(to_text(object) + "\n");
  }
}

void BrightnessCheck::add(const AttentionPicture& picture) {
  for (const auto& matrix : picture.matrices) {
    largest_ = std::max(largest_, largest_weight(matrix.weights));
  }
}

void BrightnessCheck::log_advice() const {
  if (scale_ != WeightScale::absolute || largest_ < 0.0F || largest_ >= dark) return;
  log::info(
      "The largest attention weight is {}, which is dark on the scale from 0 to 1; use "
      "--attention-scale picture or row to draw the largest weight in white.",
      format_short(static_cast<double>(largest_)));
}

AttentionText::AttentionText(const LoadedModel& model, const AttentionSelection& selection,
                             WeightScale scale)
    : selection_(selection), scale_(scale), brightness_(scale) {
  check_selection(model, selection, "--show-attention");
}

std::string AttentionText::draw(const std::string& line, const Translation& translation) {
  if (translation.hypotheses.empty()) return "";
  std::string text;
  for (auto& picture : selection_.pictures(line, translation, scale_)) {
    brightness_.add(picture);
    const auto matrices = std::exchange(picture.matrices, {});
    for (const auto& matrix : matrices) {
      if (!text.empty()) text += "\n";
      if (!matrix.caption.empty()) text += matrix.caption + "\n";
      picture.matrices = {matrix};
      text += heat_map(picture, terminal_at(STDOUT_FILENO));
    }
  }
  return text;
}

void check_picture_name(const std::string& path) {
  const auto extension = std::filesystem::path(path).extension().string();
  if (is_folder(path) || extension == ".svg") return;
  throw ConfigError(
      "--picture {}: found the ending `{}`, expected .svg (the first sentence) or a folder such as "
      "maps/ (each sentence as .svg){}",
      path, extension, extension == ".html" ? "; use --report for a page" : "");
}

PictureOutput::PictureOutput(const std::string& path, const LoadedModel& model,
                             const AttentionSelection& selection, WeightScale scale)
    : path_(path), selection_(selection), scale_(scale), brightness_(scale) {
  check_selection(model, selection, "--picture");
  if (!is_folder(path) && selection.maps().size() > 1) {
    throw ConfigError(
        "--picture {}: found {} of --attention-map, expected one; name a folder such as maps/",
        path, counted(selection.maps().size(), "map"));
  }
  if (is_folder(path)) {
    make_folder(path);
  } else {
    file_.emplace(path);
  }
}

void PictureOutput::write_into_folder(const std::vector<AttentionPicture>& pictures) const {
  const auto& maps = selection_.maps();
  auto line = fmt::format("line-{:05}", number_);
  if (texts_ > 1) line += fmt::format("-{}", texts_);
  for (std::size_t i = 0; i < maps.size(); ++i) {
    const auto map = maps.size() == 1 ? "" : fmt::format("-{}", enum_name(maps[i]));
    OutputFile file((std::filesystem::path(path_) / (line + map + ".svg")).string());
    file.write(alignment_svg(pictures[i]));
    file.commit();
  }
}

void PictureOutput::add(std::int64_t number, const std::string& line,
                        const Translation& translation) {
  texts_ = number == number_ ? texts_ + 1 : 1;
  number_ = number;
  if (translation.hypotheses.empty() || picture_) return;
  auto pictures = selection_.pictures(line, translation, scale_);
  for (auto& picture : pictures) {
    brightness_.add(picture);
    picture.text = {line, translation.text};
  }
  if (!file_) return write_into_folder(pictures);
  picture_ = std::move(pictures.front());
  picture_->caption = fmt::format("Line {}", number);
}

void PictureOutput::commit() {
  brightness_.log_advice();
  if (!file_) return;
  if (!picture_) {
    log::warning("There is no sentence to draw: {} is not written.", path_);
    return;
  }
  file_->write(alignment_svg(*picture_));
  file_->commit();
}

}  // namespace regard
