// regard shortlist: learns a lexical shortlist for a model from a parallel corpus.
#include <algorithm>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/special_tokens.h"
#include "base/strings.h"
#include "commands/commands.h"
#include "commands/evaluate/evaluation.h"
#include "commands/loaded_model.h"
#include "commands/output_file.h"
#include "commands/translate/attention_output.h"
#include "data/line_checks.h"
#include "data/line_reader.h"
#include "report/progress.h"
#include "text/unicode.h"
#include "translation/shortlist.h"
#include "translation/word_alignment.h"

namespace regard {
namespace {

using Lines = std::vector<std::string>;

constexpr std::size_t batch_size = 64;
constexpr std::size_t chunk_size = 128 * batch_size;  // lines whose weights are held at once

std::vector<std::string> token_texts(const Tokenizer& tokenizer,
                                     const std::vector<std::int32_t>& ids) {
  std::vector<std::string> texts;
  for (const auto id : ids) texts.push_back(tokenizer.token(id));
  return texts;
}

// Links every token of a source word with every token of a target word that is linked with it.
void count_word_links(const LoadedModel& model, const Lines& source, const Lines& target,
                      const std::vector<GoldAlignment>& alignments, LinkCounts& counts) {
  const auto& codec = model.contents.codec;
  const auto kind = model.contents.options.data.tokenizer.kind;
  for (std::size_t i = 0; i < source.size(); ++i) {
    const auto source_ids = codec.source->encode(source[i]);
    const auto target_ids = codec.target->encode(target[i]);
    counts.add_target(target_ids);
    const auto source_words = group_into_words(token_texts(*codec.source, source_ids), kind);
    const auto target_words = group_into_words(token_texts(*codec.target, target_ids), kind);
    for (const auto& link : alignments[i].possible) {
      // A line that was cut has fewer words than its alignment.
      if (link.source >= source_words.size() || link.target >= target_words.size()) continue;
      for (const auto s : source_words[link.source]) {
        for (const auto t : target_words[link.target]) {
          counts.add_link(source_ids[s], target_ids[t]);
        }
      }
    }
  }
}

// Links each target token with the source token, or </s>, of the largest attention weight.
void count_attention_links(const LoadedModel& model, const Lines& source, const Lines& target,
                           LinkCounts& counts) {
  const auto& codec = model.contents.codec;
  DecodingReporter reporter("aligning", static_cast<std::int64_t>(source.size()));
  const auto translator = model.translator();
  for (std::size_t begin = 0; begin < source.size(); begin += chunk_size) {
    const auto end = std::min(begin + chunk_size, source.size());
    const auto chunk = [&](const Lines& lines) {
      return Lines(lines.begin() + static_cast<std::ptrdiff_t>(begin),
                   lines.begin() + static_cast<std::ptrdiff_t>(end));
    };
    const auto scored = translator.score(
        chunk(source), chunk(target), /*want_weights=*/true, batch_size,
        [&](std::int64_t done) { reporter.update(static_cast<std::int64_t>(begin) + done); });
    for (std::size_t i = begin; i < end; ++i) {
      if (scored[i - begin].hypotheses.empty()) continue;
      const auto& hypothesis = scored[i - begin].hypotheses[0];
      auto source_ids = codec.encode_source(source[i]).tokens;  // with the tag
      source_ids.push_back(eos_id);
      counts.add_target(hypothesis.tokens);
      for (std::size_t t = 0; t < hypothesis.tokens.size(); ++t) {
        const auto& weights = hypothesis.weights[t];
        const auto largest = std::max_element(weights.begin(), weights.end()) - weights.begin();
        counts.add_link(source_ids[static_cast<std::size_t>(largest)], hypothesis.tokens[t]);
      }
    }
  }
}

}  // namespace

ExitCode shortlist(const ShortlistArguments& arguments) {
  check_files({arguments.source, arguments.target, arguments.alignments},
              {path_or_dash(arguments.output)});
  auto source = read_lines(arguments.source);
  auto target = read_lines(arguments.target);
  check_line_counts(arguments.source, source.size(), arguments.target, target.size());
  std::vector<GoldAlignment> alignments;
  if (!arguments.alignments.empty()) {
    alignments = read_alignments(arguments.alignments);
    check_line_counts(arguments.alignments, alignments.size(), arguments.source, source.size());
    check_links(arguments.alignments, alignments, source, target);
  }
  const auto model = load_models(arguments.model);
  check_shortlist(*model.contents.model, model.contents.codec);
  if (arguments.alignments.empty()) {
    require_attention(model, "shortlist without --alignments");
  }
  source = truncate_source_lines(model, std::move(source), arguments.source);
  target = truncate_target_lines(model, std::move(target), arguments.target);
  OutputFile output(arguments.output);
  LinkCounts counts;
  if (arguments.alignments.empty()) {
    count_attention_links(model, source, target, counts);
  } else {
    count_word_links(model, source, target, alignments, counts);
  }
  output.write(counts.to_file(model.contents.codec));
  output.commit();
  log::info("Learned the shortlist from {}", counted(source.size(), "pair"));
  return ExitCode::ok;
}

}  // namespace regard
