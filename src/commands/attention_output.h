// What a translation's attention is written as: word alignments, and pictures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "commands/output_file.h"
#include "commands/ready_model.h"
#include "config/data_options.h"
#include "report/alignment_picture.h"
#include "translation/translator.h"

namespace regard {

// Alignments in Pharaoh's format, defined in translation/word_alignment.h: a line for each line of
// output.
class AlignmentOutput {
 public:
  // ConfigError when the model has no attention.
  AlignmentOutput(const std::string& path, const ReadyModel& model);

  // The best `hypotheses`; for an empty source an empty line.
  void write(const Translation& translation, const Translator& translator, std::size_t hypotheses);
  void commit() { file_.commit(); }

 private:
  OutputFile file_;
  TokenizerKind kind_;
};

// The weights as they are, a JSON object a line: {"line": 1, "source": [tokens], "target":
// [tokens], "weights": [[α_ts over s] for each t]}, with "hypothesis" where there are several.
class WeightsOutput {
 public:
  // ConfigError when the model has no attention.
  WeightsOutput(const std::string& path, const ReadyModel& model);

  // The best `hypotheses` of the line of this number, from 1; an object without tokens for a blank
  // one.
  void write(std::int64_t number, const Translation& translation, const Translator& translator,
             std::size_t hypotheses);
  void commit() { file_.commit(); }

 private:
  OutputFile file_;
};

// Returns the scale that --attention-scale names. ConfigError for other names.
WeightScale weight_scale_named(const std::string& name);

// Finds out if pictures on the scale from 0 to 1 are so dark that little is seen in them.
class DarkPictures {
 public:
  explicit DarkPictures(WeightScale scale) : scale_(scale) {}

  void add(const AttentionPicture& picture);
  // Logs what would show more, if all pictures were dark.
  void log_advice() const;

 private:
  WeightScale scale_;
  float largest_ = -1.0F;  // none yet
};

// Draws heat maps of the best hypotheses for the terminal that standard output is.
class AttentionText {
 public:
  explicit AttentionText(WeightScale scale) : scale_(scale), dark_(scale) {}

  std::string of(const Translation& translation, const Translator& translator);
  void log_advice() const { dark_.log_advice(); }

 private:
  WeightScale scale_;
  DarkPictures dark_;
};

// ConfigError for names that neither end in .html or .svg nor are a folder's.
void check_picture_name(const std::string& path);

// The best translations of the first sentences: as many as a page bears (50) as HTML, one as SVG.
// Of all sentences where a folder is named (it exists, or the name ends in /): line-00001.svg, ….
class PictureOutput {
 public:
  // ConfigError when the model has no attention.
  PictureOutput(const std::string& path, const ReadyModel& model, WeightScale scale);

  void add(const Translation& translation, const Translator& translator);
  void commit();

 private:
  void write_into_folder(const AttentionPicture& picture) const;

  std::string path_;
  WeightScale scale_;
  DarkPictures dark_;
  std::optional<OutputFile> file_;  // not with a folder
  bool html_;
  std::string model_name_;
  std::size_t lines_ = 0;
  std::size_t left_out_ = 0;
  std::vector<AttentionPicture> pictures_;
};

// ConfigError, which names `option`, when the model has no attention.
void require_attention(const ReadyModel& model, const std::string& option);

}  // namespace regard
