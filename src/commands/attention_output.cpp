#include "commands/attention_output.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "report/heat_map.h"
#include "translation/word_alignment.h"

namespace regard {
namespace {

constexpr std::size_t most_pictures = 50;

std::string ending_of(const std::string& path) {
  return std::filesystem::path(path).extension().string();
}

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return path.ends_with('/') || std::filesystem::is_directory(path, ignored);
}

AttentionPicture picture_of(const Translation& translation, const Translator& translator) {
  const auto& hypothesis = translation.hypotheses.front();
  AttentionPicture picture;
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

void require_attention(const ReadyModel& model, const std::string& option) {
  if (model.loaded.model->shows_attention()) return;
  throw ConfigError("{}: the model {} has no attention (model.attention.kind: {}) to show", option,
                    model.path.string(), model.loaded.options.model.attention.kind);
}

AlignmentOutput::AlignmentOutput(const std::string& path, const ReadyModel& model)
    : file_((require_attention(model, "--alignments"), path)),
      kind_(model.loaded.options.data.tokenizer.kind) {}

void AlignmentOutput::write(const Translation& translation, const Translator& translator,
                            std::size_t hypotheses) {
  const auto count = std::min(hypotheses, translation.hypotheses.size());
  if (count == 0) file_.write("\n");
  for (std::size_t k = 0; k < count; ++k) {
    const auto& hypothesis = translation.hypotheses[k];
    file_.write(to_pharaoh(align_words(hypothesis.weights, translation.source_tokens,
                                       translator.tokens(hypothesis, translation), kind_)) +
                "\n");
  }
}

WeightsOutput::WeightsOutput(const std::string& path, const ReadyModel& model)
    : file_((require_attention(model, "--attention-weights"), path)) {}

void WeightsOutput::write(std::int64_t number, const Translation& translation,
                          const Translator& translator, std::size_t hypotheses) {
  const auto count = std::min(hypotheses, translation.hypotheses.size());
  for (std::size_t k = 0; k < std::max<std::size_t>(1, count); ++k) {
    Json object = {{"line", number}};
    if (hypotheses > 1) object["hypothesis"] = k + 1;
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

std::string attention_text(const Translation& translation, const Translator& translator) {
  if (translation.hypotheses.empty()) return "";
  return heat_map(picture_of(translation, translator), stdout_terminal());
}

void check_picture_name(const std::string& path) {
  const auto ending = ending_of(path);
  if (is_folder(path) || ending == ".html" || ending == ".svg") return;
  throw ConfigError(
      "--picture {}: found the ending `{}`, wanted .html (all sentences), .svg "
      "(the first) or a folder, as in maps/ (each as .svg)",
      path, ending);
}

PictureOutput::PictureOutput(const std::string& path, const ReadyModel& model)
    : path_(path), html_(ending_of(path) == ".html"), model_name_(model.loaded.options.name) {
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
  if (!file_) return write_into_folder(picture_of(translation, translator));
  if (pictures_.size() == (html_ ? most_pictures : 1)) {
    ++left_out_;
    return;
  }
  pictures_.push_back(picture_of(translation, translator));
  pictures_.back().caption = fmt::format("Line {}", lines_);
}

void PictureOutput::commit() {
  if (!file_) return;
  if (html_) {
    file_->write(alignment_html("Attention of " + model_name_, pictures_));
    if (left_out_ > 0) {
      log::info("the picture shows the first {} sentences, not the other {}", pictures_.size(),
                left_out_);
    }
  } else if (pictures_.empty()) {
    log::warning("there is no sentence for the picture: {} is not written", path_);
    return;
  } else {
    file_->write(alignment_svg(pictures_.front()));
  }
  file_->commit();
}

}  // namespace regard
