// Writes the attention of translations: word alignments, weights as JSON, heat maps for the
// terminal, and SVG pictures. The page of --report is in attention_report.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "commands/loaded_model.h"
#include "commands/output_file.h"
#include "commands/translate/attention_selection.h"
#include "config/data_options.h"
#include "report/alignment_picture.h"
#include "translation/translator.h"

namespace regard {

// Writes word alignments (translation/word_alignment.h) in Pharaoh format, one line per output
// line.
class AlignmentOutput {
 public:
  // `model` must outlive this object. Throws ConfigError if the model has no attention.
  AlignmentOutput(const std::string& path, const LoadedModel& model);

  // Writes the `n_best` best translations of a line. If there is none, writes an empty line.
  void write(const Translation& translation, const Translator& translator, std::size_t n_best);
  void commit() { file_.commit(); }

 private:
  OutputFile file_;
  const DataOptions& options_;
};

// Writes the selected attention weights, one JSON object per line: {"line": 1, "source": [tokens],
// "target": [tokens]}, "hypothesis" if there are several, and for each selected map
//   source   "weights": [[α_ts over s] for each t]
//   encoder  "encoder": [[[[weights over the source] for each token] for each head] for each layer]
//   decoder  "inputs": [<s>, tokens], and "decoder" over these, likewise
class WeightsOutput {
 public:
  // `selection` must outlive this object. Throws ConfigError if the model has no attention to the
  // source and it is selected.
  WeightsOutput(const std::string& path, const LoadedModel& model,
                const AttentionSelection& selection);

  // Writes the `n_best` best translations of line `number`, which counts from 1. If there is none,
  // writes one object with empty arrays.
  void write(std::int64_t number, const std::string& line, const Translation& translation,
             const Translator& translator, std::size_t n_best);
  void commit() { file_.commit(); }

 private:
  OutputFile file_;
  const AttentionSelection& selection_;
};

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
  // `selection` must outlive this object. Throws ConfigError if the model has no attention to the
  // source and it is selected.
  AttentionText(const LoadedModel& model, const AttentionSelection& selection, WeightScale scale);

  // Returns the heat maps of the best hypothesis, or "" if there is none. A line above each map
  // has its caption, if there is one.
  std::string draw(const std::string& line, const Translation& translation);
  void log_advice() const { brightness_.log_advice(); }

 private:
  const AttentionSelection& selection_;
  WeightScale scale_;
  BrightnessCheck brightness_;
};

// Throws ConfigError if the name does not end in .svg and is not a folder.
void check_picture_name(const std::string& path);

// Draws the best translation of each line. The form depends on `path`:
//   NAME.svg   the first translation
//   a folder   one file for each line: line-00001.svg, … The folder exists or the name ends in /.
// If several maps are selected, a folder has a file for each: line-00001-encoder.svg, … Further
// texts of an input line, as of a JSON string of several lines, have a number: line-00001-2.svg.
class PictureOutput {
 public:
  // `selection` must outlive this object. Throws ConfigError if the model has no attention to the
  // source and it is selected, or if an SVG file would have several maps.
  PictureOutput(const std::string& path, const LoadedModel& model,
                const AttentionSelection& selection, WeightScale scale);

  // Call for the texts in order. `number` is that of the input line, from 1.
  void add(std::int64_t number, const std::string& line, const Translation& translation);
  void commit();

 private:
  void write_into_folder(const std::vector<AttentionPicture>& pictures) const;

  std::string path_;
  const AttentionSelection& selection_;
  WeightScale scale_;
  BrightnessCheck brightness_;
  std::optional<OutputFile> file_;           // empty if the output is a folder
  std::int64_t number_ = 0;                  // of the last text
  int texts_ = 0;                            // of this line so far
  std::optional<AttentionPicture> picture_;  // of the file
};

// Throws ConfigError, which names `option`, if the model has no attention to the source.
void require_attention(const LoadedModel& model, const std::string& option);

}  // namespace regard
