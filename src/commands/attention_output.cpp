#include "commands/attention_output.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "report/format.h"
#include "report/heat_map.h"
#include "translation/word_alignment.h"

namespace regard {
namespace {

constexpr std::size_t max_pictures = 50;
constexpr float dark = 0.2F;  // a picture whose largest weight is below this is nearly black

std::string extension_of(const std::string& path) {
  return std::filesystem::path(path).extension().string();
}

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return path.ends_with('/') || std::filesystem::is_directory(path, ignored);
}

AttentionPicture make_picture(const Translation& translation, const Translator& translator,
                              WeightScale scale) {
  const auto& hypothesis = translation.hypotheses.front();
  AttentionPicture picture;
  picture.scale = scale;
  picture.source = translation.source_tokens;
  picture.target = translator.tokens(hypothesis, translation);
  AttentionMatrix matrix;
  for (const auto& row : hypothesis.weights) {
    matrix.weights.insert(matrix.weights.end(), row.begin(), row.end());
  }
  picture.matrices.push_back(std::move(matrix));
  return picture;
}

}  // namespace

void require_attention(const LoadedModel& model, const std::string& option) {
  if (model.contents.model->has_attention_weights()) return;
  throw ConfigError("{}: the model {} has no attention (model.attention.kind: {})", option,
                    model.path.string(), model.contents.options.model.attention.kind);
}

// Checks the model before OutputFile creates a file.
AlignmentOutput::AlignmentOutput(const std::string& path, const LoadedModel& model)
    : file_((require_attention(model, "--alignments"), path)),
      kind_(model.contents.options.data.tokenizer.kind) {}

void AlignmentOutput::write(const Translation& translation, const Translator& translator,
                            std::size_t n_best) {
  const auto count = std::min(n_best, translation.hypotheses.size());
  if (count == 0) file_.write("\n");
  for (std::size_t k = 0; k < count; ++k) {
    const auto& hypothesis = translation.hypotheses[k];
    file_.write(to_pharaoh(align_words(hypothesis.weights, translation.source_tokens,
                                       translator.tokens(hypothesis, translation), kind_)) +
                "\n");
  }
}

// Checks the model before OutputFile creates a file.
WeightsOutput::WeightsOutput(const std::string& path, const LoadedModel& model)
    : file_((require_attention(model, "--attention-weights"), path)) {}

void WeightsOutput::write(std::int64_t number, const Translation& translation,
                          const Translator& translator, std::size_t n_best) {
  const auto count = std::min(n_best, translation.hypotheses.size());
  for (std::size_t k = 0; k < std::max<std::size_t>(1, count); ++k) {
    Json object = {{"line", number}};
    if (n_best > 1) object["hypothesis"] = k + 1;
    object["source"] = translation.source_tokens;
    object["target"] = Json::array();
    object["weights"] = Json::array();
    if (k < count) {
      const auto& hypothesis = translation.hypotheses[k];
      object["target"] = translator.tokens(hypothesis, translation);
      object["weights"] = hypothesis.weights;
    }
    file_.write(to_text(object) + "\n");
  }
}

WeightScale weight_scale_named(const std::string& name) {
  const auto names = enum_names(WeightScale{});
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) {
    throw ConfigError("--attention-scale: found `{}`, expected {}", name, fmt::join(names, ", "));
  }
  return static_cast<WeightScale>(found - names.begin());
}

void BrightnessCheck::add(const AttentionPicture& picture) {
  for (const auto& matrix : picture.matrices) {
    largest_ = std::max(largest_, largest_weight(matrix.weights));
  }
}

void BrightnessCheck::log_advice() const {
  if (scale_ != WeightScale::absolute || largest_ < 0.0F || largest_ >= dark) return;
  log::info(
      "The largest attention weight is {}, which is dark on the scale from 0 to 1; "
      "use --attention-scale picture or row to draw the largest weight in white.",
      format_short(static_cast<double>(largest_)));
}

std::string AttentionText::draw(const Translation& translation, const Translator& translator) {
  if (translation.hypotheses.empty()) return "";
  const auto picture = make_picture(translation, translator, scale_);
  brightness_.add(picture);
  return heat_map(picture, stdout_terminal());
}

void check_picture_name(const std::string& path) {
  const auto extension = extension_of(path);
  if (is_folder(path) || extension == ".html" || extension == ".svg") return;
  throw ConfigError(
      "--picture {}: found the ending `{}`, expected .html (the first {} sentences), "
      ".svg (the first) or a folder such as maps/ (each as .svg)",
      path, extension, max_pictures);
}

PictureOutput::PictureOutput(const std::string& path, const LoadedModel& model, WeightScale scale)
    : path_(path),
      scale_(scale),
      brightness_(scale),
      html_(extension_of(path) == ".html"),
      model_name_(model.contents.options.name) {
  require_attention(model, "--picture");
  if (is_folder(path)) {
    make_folder(path);
  } else {
    file_.emplace(path);
  }
}

void PictureOutput::write_into_folder(const AttentionPicture& picture) const {
  const auto name = fmt::format("line-{:05}.svg", lines_);
  OutputFile file((std::filesystem::path(path_) / name).string());
  file.write(alignment_svg(picture));
  file.commit();
}

void PictureOutput::add(const Translation& translation, const Translator& translator) {
  ++lines_;
  if (translation.hypotheses.empty()) return;
  if (file_ && pictures_.size() == (html_ ? max_pictures : 1)) {
    ++omitted_;
    return;
  }
  auto picture = make_picture(translation, translator, scale_);
  brightness_.add(picture);
  if (!file_) return write_into_folder(picture);
  picture.caption = fmt::format("Line {}", lines_);
  pictures_.push_back(std::move(picture));
}

void PictureOutput::commit() {
  brightness_.log_advice();
  if (!file_) return;
  if (html_) {
    file_->write(alignment_html("Attention of " + model_name_, pictures_));
    if (omitted_ > 0) {
      log::info("The picture shows the first {} sentences; {} are left out.", pictures_.size(),
                omitted_);
    }
  } else if (pictures_.empty()) {
    log::warning("There is no sentence to draw: {} is not written.", path_);
    return;
  } else {
    file_->write(alignment_svg(pictures_.front()));
  }
  file_->commit();
}

}  // namespace regard
