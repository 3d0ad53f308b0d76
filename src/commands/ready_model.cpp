#include "commands/ready_model.h"

#include "base/error.h"
#include "base/log.h"
#include "checkpoint/run_folder.h"
#include "data/line_checks.h"
#include "translation/device.h"
#include "translation/word_alignment.h"

namespace regard {

ReadyModel load_model(const ModelArguments& arguments) {
  const auto path = resolve_model(arguments.model);
  const auto device = find_device(arguments.device);
  auto workers = make_workers(arguments.threads, device);
  return {path, device, std::move(workers), load_model(path, device)};
}

std::vector<std::string> readable(const ReadyModel& model, std::vector<std::string> lines,
                                  const std::string& path) {
  const auto longest = longest_line(model.loaded.options.data);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto warning = cut_long_line(lines[i], longest, path, static_cast<std::int64_t>(i) + 1);
    if (warning) log::warning("{}", *warning);
  }
  return lines;
}

std::vector<Alignment> alignments_of(const ReadyModel& model,
                                     const std::vector<Translation>& translations) {
  const auto kind = model.loaded.options.data.tokenizer.kind;
  const auto translator = model.translator();
  std::vector<Alignment> alignments;
  for (const auto& translation : translations) {
    alignments.emplace_back();
    if (translation.hypotheses.empty()) continue;
    const auto& hypothesis = translation.hypotheses[0];
    alignments.back() = align_words(hypothesis.weights, translation.source_tokens,
                                    translator.tokens(hypothesis, translation), kind);
  }
  return alignments;
}

}  // namespace regard
