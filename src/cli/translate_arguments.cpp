// The command translate, and which of its options exclude each other.
#include "cli/arguments.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/strings.h"
#include "cli/option_helpers.h"
#include "config/options.h"

namespace regard {
namespace {

// Options that change the output format, and exclude others that do.
using Formats = std::vector<CLI::Option*>;

Formats add_formats(CLI::App& command, TranslateArguments& arguments) {
  const HelpGroup group(command, "Output of each line");
  auto* n_best =
      add_number(command, "--n-best", arguments.n_best,
                 "print the N best translations, in Moses format", whole_number(1, 1000));
  auto* json = command.add_flag(
      "--json", arguments.format.json,
      "print a JSON object: texts, log-probabilities and scores, also of each word");
  auto* scores =
      command
          .add_flag("--scores", arguments.format.scores,
                    "print log-probability and score before the translation, separated by tabs")
          ->excludes(json);
  auto* word_scores = command
                          .add_flag("--word-scores", arguments.format.word_scores,
                                    "print the log-probability of each word after the translation")
                          ->excludes(json);
  return {n_best, json, scores, word_scores};
}

void add_attention_options(CLI::App& command, TranslateArguments& arguments,
                           const Formats& formats) {
  const HelpGroup group(command, "Attention");
  add_file(command, "--alignments", arguments.alignments,
           "write word alignments, in Pharaoh format");
  add_file(command, "--attention-weights", arguments.attention_weights,
           "write the attention weights, a JSON object for each translation");
  add_file(command, "--picture", arguments.picture,
           "draw the attention: .svg for the first sentence, or a folder MAPS/ with an .svg for "
           "each");
  add_file(command, "--report", arguments.report,
           "write an .html page of the first 50 sentences with attention by head and layer, "
           "alignments, n-best lists and the tree of the beam search");
  add_choice(command, "--attention-map", arguments.attention.maps,
             "attention in --attention-weights, --picture and --show-attention: to the source "
             "(default), or the self-attention of the encoder or the decoder; several are "
             "separated by commas",
             "source|encoder|decoder")
      ->delimiter(',');
  add_number(command, "--attention-layer", arguments.attention.layer,
             "draw the heads of this layer, from 1 (default: the mean over those of the last)",
             whole_number(1, 1000));
  add_number(command, "--attention-head", arguments.attention.head,
             "draw this head, from 1, of the layer (default: the last layer)",
             whole_number(1, 1000));
  auto* show = command.add_flag("--show-attention", arguments.show_attention,
                                "draw the attention in the terminal, under each translation");
  add_choice(command, "--attention-scale", arguments.attention_scale,
             "weight drawn in white by --picture, --show-attention and --report: 1 (default), "
             "the largest of the picture, or the largest of each row",
             "absolute|picture|row");
  auto* explain = command
                      .add_flag("--explain", arguments.explain,
                                "print the numbers of each step instead of the translation: query, "
                                "scores, weights, context")
                      ->excludes(show);
  for (auto* format : formats) {
    show->excludes(format);
    explain->excludes(format);
  }
}

void add_line_options(CLI::App& command, ConstraintFiles& files) {
  const HelpGroup group(
      command, "Constraints for each line (line i of FILE belongs to line i of the input)");
  add_file(command, "--prefixes", files.prefixes, "beginning of the translation");
  add_file(command, "--require", files.require,
           "phrases that the translation must contain, separated by tabs");
  add_file(command, "--ban", files.ban,
           "phrases that the translation must not contain, separated by tabs");
}

// The options --prefixes, --require and --ban that were given.
std::vector<std::string> given_constraints(const ConstraintFiles& files) {
  std::vector<std::string> given;
  for (const auto& [option, path] : {std::pair{"--prefixes", files.prefixes},
                                     {"--require", files.require},
                                     {"--ban", files.ban}}) {
    if (!path.empty()) given.emplace_back(option);
  }
  return given;
}

// Samples without --mbr: none of them is the best.
bool is_unranked(const SearchOptions& search) {
  return search.samples > 0 && search.mbr == MbrMetric::none;
}

// Returns --explain or --report if it was given, which shows the tokens and steps of one model.
std::string steps_option(const TranslateArguments& arguments) {
  if (arguments.explain) return "--explain";
  return arguments.report.empty() ? "" : "--report";
}

// --explain, --report, --show-attention, --scores and --n-best.
void check_outputs(const TranslateArguments& arguments, const SearchOptions& search,
                   std::size_t members) {
  if (const auto option = steps_option(arguments); !option.empty() && members > 1) {
    throw ConfigError("{} shows one model: give one with -m and none with --lm; found {} in all",
                      option, members);
  }
  if (is_unranked(search) && (arguments.explain || arguments.show_attention)) {
    throw ConfigError(
        "{} shows the best translation, but found samples {}: samples are not ranked; choose one "
        "with --mbr",
        arguments.explain ? "--explain" : "--show-attention", search.samples);
  }
  if (arguments.format.scores && (is_unranked(search) || arguments.n_best > 0)) {
    throw ConfigError(
        "--scores: n-best lists and samples include the scores already; leave it out");
  }
  if (search.samples > 0 && arguments.n_best > search.samples) {
    throw ConfigError("--n-best {}: found {} to choose from; draw more with --samples",
                      arguments.n_best, counted(search.samples, "sample"));
  }
  if (search.samples == 0 && arguments.n_best > search.beam_size) {
    throw ConfigError("--n-best {}: the search keeps only {}; widen it with --beam-size",
                      arguments.n_best, counted(search.beam_size, "hypothesis"));
  }
}

void check_constraints(const TranslateArguments& arguments, const SearchOptions& search,
                       const Options& options) {
  auto given = given_constraints(arguments.constraints);
  if (!arguments.glossary.empty()) given.emplace_back("--glossary");
  if (!given.empty() && options.model.output.kind == OutputKind::pointer) {
    throw ConfigError("{}: the model outputs source positions, not words", given[0]);
  }
  if (!arguments.glossary.empty() && !translates_text(options)) {
    throw ConfigError("--glossary: the source of the model is not text to translate");
  }
  for (const auto& [option, file] : {std::pair{"--require", &arguments.constraints.require},
                                     {"--glossary", &arguments.glossary}}) {
    if (file->empty() || search.samples == 0) continue;
    throw ConfigError(
        "{}: found search.samples {}, expected 0: only beam search supports required phrases",
        option, search.samples);
  }
}

// An option that needs whole lines, and the reason.
struct WholeLines {
  std::string option;
  std::string why;
};

std::optional<WholeLines> whole_lines(const TranslateArguments& arguments,
                                      const SearchOptions& search, const Options& model) {
  if (arguments.n_best > 1) return {{"--n-best", "each part has its own n-best list"}};
  if (search.samples > 0) return {{"samples", "each part has its own samples"}};
  if (search.mbr != MbrMetric::none) return {{"--mbr", "it compares translations of whole lines"}};
  if (arguments.explain) return {{"--explain", "it explains whole lines"}};
  if (!arguments.report.empty()) return {{"--report", "it shows whole lines"}};
  if (const auto options = given_constraints(arguments.constraints); !options.empty()) {
    return {{options.front(), "it applies to whole lines"}};
  }
  if (!translates_text(model)) {
    return {{"this model", "its source has no sentences to split at"}};
  }
  return std::nullopt;
}

void check_split(const TranslateArguments& arguments, const SearchOptions& search,
                 const Options& model) {
  if (arguments.split_length == 0) return;
  if (const auto found = whole_lines(arguments, search, model)) {
    throw ConfigError("--split-length cannot be combined with {}: {}", found->option, found->why);
  }
}

// --format, --markup and --keep: the output is more than the tokens of the model.
void check_texts(const TranslateArguments& arguments, const SearchOptions& search,
                 const Options& model) {
  const bool is_text = arguments.text_format.empty() || arguments.text_format == "text";
  const bool has_markup = arguments.markup || !arguments.keep.empty();
  if (is_text && !has_markup) return;
  const auto option = !is_text           ? "--format " + arguments.text_format
                      : arguments.markup ? std::string("--markup")
                                         : std::string("--keep");
  const auto& format = arguments.format;
  for (const auto& [other, is_given] : {std::pair{"--n-best", arguments.n_best > 0},
                                        {"--json", format.json},
                                        {"--word-scores", format.word_scores},
                                        {"--explain", arguments.explain},
                                        {"--show-attention", arguments.show_attention},
                                        {"--scores", format.scores && !is_text},
                                        {"--samples without --mbr", is_unranked(search)}}) {
    if (!is_given) continue;
    throw ConfigError("{} cannot be combined with {}, which writes more than a translation", option,
                      other);
  }
  if (const auto given = given_constraints(arguments.constraints);
      !given.empty() && arguments.text_format == "html") {
    throw ConfigError("{} cannot be combined with {}: a document has no lines to constrain", option,
                      given.front());
  }
  if (!translates_text(model)) {
    throw ConfigError("{}: found a model that does not translate text", option);
  }
}

void check_replace_unknown(const TranslateArguments& arguments, SourceKind source) {
  if (!arguments.replace_unknown) return;
  if (source == SourceKind::features) {
    throw ConfigError("--replace-unknown replaces words, but the model reads features");
  }
  if (const auto option = steps_option(arguments); !option.empty()) {
    throw ConfigError(
        "--replace-unknown cannot be combined with {}, which shows the model's own tokens", option);
  }
}

// --attention-map, --attention-layer and --attention-head.
void check_attention(const TranslateArguments& arguments, std::size_t members) {
  const auto& [maps, layer, head] = arguments.attention;
  const bool is_default = maps == AttentionChoice{}.maps;
  const bool draws = !arguments.picture.empty() || arguments.show_attention;
  const std::string heads_option = layer > 0  ? "--attention-layer"
                                   : head > 0 ? "--attention-head"
                                              : "";
  if (!is_default && !draws && arguments.attention_weights.empty()) {
    throw ConfigError(
        "--attention-map selects what --attention-weights, --picture and --show-attention show; "
        "give one of them");
  }
  if (!heads_option.empty() && !draws) {
    throw ConfigError("{} selects what --picture and --show-attention draw; give one of them",
                      heads_option);
  }
  if (is_default && heads_option.empty()) return;
  const auto reject = [&](const std::string& option) {
    throw ConfigError("{} cannot be combined with {}, which changes the model's tokens",
                      is_default ? heads_option : "--attention-map", option);
  };
  if (arguments.split_length > 0) reject("--split-length");
  if (arguments.replace_unknown) reject("--replace-unknown");
  const bool has_self_attention =
      std::ranges::any_of(maps, [](const std::string& map) { return map != "source"; });
  if (members > 1 && (has_self_attention || !heads_option.empty())) {
    throw ConfigError("{} shows one model: give one with -m and none with --lm; found {} in all",
                      has_self_attention ? "--attention-map" : heads_option, members);
  }
}

}  // namespace

void check_translate(const TranslateArguments& arguments, const SearchOptions& search,
                     const Options& options, std::size_t members) {
  check_outputs(arguments, search, members);
  check_constraints(arguments, search, options);
  check_split(arguments, search, options);
  check_texts(arguments, search, options);
  check_replace_unknown(arguments, options.data.source);
  check_attention(arguments, members);
}

std::optional<std::int64_t> longest_part(const TranslateArguments& arguments,
                                         const SearchOptions& search, const Options& options) {
  if (arguments.split_length > 0) return arguments.split_length;
  const auto& [maps, layer, head] = arguments.attention;
  const bool selects_attention = maps != AttentionChoice{}.maps || layer > 0 || head > 0;
  if (arguments.whole_lines || selects_attention || whole_lines(arguments, search, options)) {
    return std::nullopt;
  }
  return 0;
}

namespace {

void add_texts(CLI::App& command, TranslateArguments& arguments) {
  const HelpGroup group(command, "Texts in the input (the rest is copied)");
  command
      .add_option(
          "--format", arguments.text_format,
          "text: each line; tsv:COLUMN: a column of tab-separated lines, by its number or its "
          "name in the first line; jsonl:KEY: a string of JSON lines (a.b: b inside a); html: "
          "a page (default: html for names in .html and .htm, else text)")
      ->type_name("FORMAT");
  command.add_flag(
      "--markup", arguments.markup,
      "take tags such as <b> and placeholders such as {name} and %s out of the text, and "
      "put them back where the attention says (with html, tags always are)");
  add_choice(command, "--keep", arguments.keep,
             "copy these to the translation as they are: URLs and e-mail addresses, numbers, "
             "placeholders; several are separated by commas",
             "urls|numbers|placeholders")
      ->delimiter(',');
}

}  // namespace

CLI::App* add_translate(CLI::App& program, TranslateArguments& arguments) {
  auto* command = program.add_subcommand("translate", "Translate text, line by line");
  auto* model = add_model_options(*command, arguments.model)->required();
  add_file(*command, "-i,--input", arguments.input,
           "text to translate, plain or compressed (default: standard input)");
  add_file(*command, "-o,--output", arguments.output,
           "output file, written only when complete (default: standard output)");
  add_texts(*command, arguments);
  auto* replace =
      command->add_flag("--replace-unknown", arguments.replace_unknown,
                        "replace <unk> by the source word with the largest attention weight");
  add_file(*command, "--dictionary", arguments.dictionary,
           "translations of these words: word, tab, translation in each line")
      ->needs(replace);
  add_number(*command, "--split-length", arguments.split_length,
             "split lines of more than N words into sentences, and longer sentences into "
             "parts of at most N, and join the translations",
             whole_number(1, 1000000));
  command
      ->add_flag("--whole-lines", arguments.whole_lines,
                 "split no lines (default: those that hold several sentences, unless lines of the "
                 "training text did)")
      ->excludes(command->get_option("--split-length"));
  add_attention_options(*command, arguments, add_formats(*command, arguments));
  add_line_options(*command, arguments.constraints);
  add_file(*command, "--glossary", arguments.glossary,
           "terms with the translations that they must have: source term, tab, target "
           "term, or several with | between them, in each line");
  add_shortlist_options(*command, model, arguments.shortlist);
  for (const auto* shows_all : {"--explain", "--report"}) {
    command->get_option(shows_all)->excludes(command->get_option("--shortlist"));
  }
  add_search_options(*command, model, arguments.search);
  return command;
}

}  // namespace regard
