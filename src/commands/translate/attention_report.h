// The HTML page of `translate --report`: attention and search of each sentence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "commands/loaded_model.h"
#include "commands/output_file.h"
#include "report/alignment_picture.h"
#include "translation/explanation.h"

namespace regard {

// Returns one matrix [target tokens, source tokens] for each of these that the model has:
// - the distribution of a pointer, with the chosen positions;
// - the distribution of hard attention with the chosen positions, or the weights of soft attention
//   (their mean over the heads of the last layer);
// - the weights of each head of each layer;
// - the copy distribution of a copying output.
std::vector<AttentionMatrix> attention_maps(const Explanation& explanation,
                                            const ModelOptions& options);

// Returns HTML with source and translation, the attention of the best hypothesis, also the
// self-attention of encoder and decoder, its word alignment, the n-best list, and the search tree
// if the search was asked for it (SearchRequest::want_tree). A note replaces self-attention that
// takes more than `room` bytes. The translation must have a hypothesis. `translator` is that of the
// model.
std::string sentence_html(const LoadedModel& model, const Translator& translator,
                          const std::string& line, const Translation& translation,
                          WeightScale scale = WeightScale::absolute,
                          std::size_t room = std::numeric_limits<std::size_t>::max());

// Writes the page with the first 50 sentences. It shows self-attention up to a size of 16 MB.
class ReportOutput {
 public:
  // The model and its translator must outlive this object. Throws the errors of OutputFile.
  ReportOutput(const std::string& path, const LoadedModel& model, const Translator& translator,
               WeightScale scale);

  // Call for the texts in order. `number` is that of the input line, from 1.
  void add(std::int64_t number, const std::string& line, const Translation& translation);
  void commit();

 private:
  OutputFile file_;
  const LoadedModel& model_;
  const Translator& translator_;
  WeightScale scale_;
  std::size_t sentences_ = 0;  // texts with a translation
  std::string body_;
};

}  // namespace regard
