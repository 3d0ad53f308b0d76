// The HTML page of `translate --report`: attention and search of each sentence.
#pragma once

#include <string>
#include <vector>

#include "commands/loaded_model.h"
#include "commands/output_file.h"
#include "report/alignment_picture.h"
#include "translation/explanation.h"

namespace regard {

// Returns one matrix per kind of weight, over the whole target: the distribution of a pointer and
// the positions it chose; the distribution and choices of hard attention; the mean of the heads and
// each head by layer; the copy distribution of a copying output. Empty for a model without
// attention.
std::vector<AttentionMatrix> attention_maps(const Explanation& explanation,
                                            const ModelOptions& options);

// Returns HTML with source and translation, the attention of the best hypothesis, its word
// alignment, the n-best list, and the search tree if it was kept.
std::string sentence_html(const LoadedModel& model, const std::string& line,
                          const Translation& translation,
                          WeightScale scale = WeightScale::absolute);

// Writes the page with the first 50 sentences.
class ReportOutput {
 public:
  ReportOutput(const std::string& path, const LoadedModel& model, WeightScale scale);

  void add(const std::string& line, const Translation& translation);
  void commit();

 private:
  OutputFile file_;
  const LoadedModel& model_;
  WeightScale scale_;
  std::size_t lines_ = 0;
  std::size_t sentences_ = 0;  // lines with a translation
  std::string body_;
};

}  // namespace regard
