// Writes the attention of translations: word alignments, weights as JSON, heat maps for the
// terminal, and HTML or SVG pictures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "commands/loaded_model.h"
#include "commands/output_file.h"
#include "config/data_options.h"
#include "report/alignment_picture.h"
#include "translation/translator.h"

namespace regard {

// Writes word alignments (translation/word_alignment.h) in Pharaoh format, one line per output
// line.
class AlignmentOutput {
 public:
  // Throws ConfigError if the model has no attention.
  AlignmentOutput(const std::string& path, const LoadedModel& model);

  // Writes the `n_best` best translations of a line. If there is none, writes an empty line.
  void write(const Translation& translation, const Translator& translator, std::size_t n_best);
  void commit() { file_.commit(); }

 private:
  OutputFile file_;
  TokenizerKind kind_;
};

// Writes the attention weights, one JSON object per line: {"line": 1, "source": [tokens], "target":
// [tokens], "weights": [[α_ts over s] for each t]}, and "hypothesis" if there are several.
class WeightsOutput {
 public:
  // Throws ConfigError if the model has no attention.
  WeightsOutput(const std::string& path, const LoadedModel& model);

  // Writes the `n_best` best translations of line `number`, which counts from 1. If there is none,
  // writes one object with empty arrays "target" and "weights".
  void write(std::int64_t number, const Translation& translation, const Translator& translator,
             std::size_t n_best);
  void commit() { file_.commit(); }

 private:
  OutputFile file_;
};

// Returns the scale named by --attention-scale. Throws ConfigError for other names.
WeightScale weight_scale_named(const std::string& name);

// Detects pictures that are too dark on the scale from 0 to 1.
class BrightnessCheck {
 public:
  explicit BrightnessCheck(WeightScale scale) : scale_(scale) {}

  void add(const AttentionPicture& picture);
  // Logs a hint if all pictures were dark.
  void log_advice() const;

 private:
  WeightScale scale_;
  float largest_ = -1.0F;  // negative before the first picture
};

// Draws heat maps for the terminal on standard output.
class AttentionText {
 public:
  explicit AttentionText(WeightScale scale) : scale_(scale), brightness_(scale) {}

  // Returns the heat map of the best hypothesis, or "" if there is none.
  std::string draw(const Translation& translation, const Translator& translator);
  void log_advice() const { brightness_.log_advice(); }

 private:
  WeightScale scale_;
  BrightnessCheck brightness_;
};

// Throws ConfigError if the name does not end in .html or .svg and is not a folder.
void check_picture_name(const std::string& path);

// Draws the best translation of each line. The form depends on `path`:
//   NAME.html  one page with the first 50 translations
//   NAME.svg   the first translation
//   a folder   one file for each line: line-00001.svg, … The folder exists or the name ends in /.
class PictureOutput {
 public:
  // Throws ConfigError if the model has no attention.
  PictureOutput(const std::string& path, const LoadedModel& model, WeightScale scale);

  // Must be called for every line in order, because it counts the lines.
  void add(const Translation& translation, const Translator& translator);
  void commit();

 private:
  void write_into_folder(const AttentionPicture& picture) const;

  std::string path_;
  WeightScale scale_;
  BrightnessCheck brightness_;
  std::optional<OutputFile> file_;  // empty if the output is a folder
  bool html_;
  std::string model_name_;
  std::size_t lines_ = 0;
  std::size_t omitted_ = 0;
  std::vector<AttentionPicture> pictures_;
};

// Throws ConfigError, which names `option`, if the model has no attention.
void require_attention(const LoadedModel& model, const std::string& option);

}  // namespace regard
