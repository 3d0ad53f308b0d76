// The arguments of each command, and the functions that add a command to the parser.
//
// The help text of an option, in the .cpp files, explains the member that holds its value. An empty
// member means that the option was not given. So does 0, unless the help text gives 0 another
// meaning. The parser writes into the members, so they must outlive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "config/metric_settings.h"
#include "config/search_options.h"

// CLI11's header is large, and the commands need only the arguments.
namespace CLI {
class App;
class Option;
class Validator;
}  // namespace CLI

namespace regard {

struct Options;  // config/options.h

// The tags of the direction in which a model translates; empty: none.
struct ModelTags {
  std::string source;
  std::string target;

  bool operator==(const ModelTags&) const = default;
};

struct ModelArguments {
  std::vector<std::string> models;  // run or model folders; several are an ensemble
  std::string ensemble_mean = "log_linear";
  std::vector<double> ensemble_weights;
  std::string language_model;
  double language_model_weight = 0.2;
  ModelTags tags;
  std::string tag_options = "--";  // prefix of the tag options, for messages; empty: none
  std::string device = "auto";
  std::int64_t threads = 0;
  std::string precision = "auto";
};

// Adds --device and --threads.
void add_device_options(CLI::App& command, ModelArguments& arguments);
// Adds --precision.
void add_precision_option(CLI::App& command, ModelArguments& arguments);
// Adds --device, --threads, --precision, -m and the options of ensembles. Returns the option -m.
CLI::Option* add_model_options(CLI::App& command, ModelArguments& arguments);
// The prefix of the tag options of a reverse model, such as --reverse-src-tag.
inline constexpr const char* reverse_tag_options = "--reverse-";
// Adds the options src-tag and trg-tag, with the prefix `begin`, for the model of an option.
void add_tag_options(CLI::App& command, CLI::Option* model, ModelTags& tags,
                     const std::string& begin = "--");

// The lexical shortlist of a search.
struct ShortlistOptions {
  std::string file;            // empty: no shortlist
  std::size_t frequent = 100;  // most frequent target tokens, in every shortlist
  std::size_t best = 100;      // most probable target tokens of each source token
};

// Adds --shortlist and its sizes. They require the option `model`, which names the model.
void add_shortlist_options(CLI::App& command, CLI::Option* model, ShortlistOptions& options);

struct SearchArguments {
  const CLI::App* command = nullptr;  // the parsed command, which tells which values are given
  SearchOptions values;

  // Returns `options`, changed by the search options of the command line.
  SearchOptions apply_to(SearchOptions options) const;
};

// Adds --beam-size, --beam-alpha, …: an option for each key of `search` that translation uses,
// with the help and range of the key. It is an error to give them without the option `model`.
void add_search_options(CLI::App& command, CLI::Option* model, SearchArguments& arguments);

struct TrainArguments {
  std::string config;
  std::vector<std::string> overrides;
  std::string device;
  std::optional<std::int64_t> threads;
  std::string init_from;
  bool fresh = false;
  bool dry_run = false;
  bool json = false;
};

CLI::App* add_train(CLI::App& program, TrainArguments& arguments);

struct PrepareArguments {
  std::string config;
  std::vector<std::string> overrides;
  std::string output;
  std::optional<std::int64_t> threads;
  std::string verify;  // a folder
};

CLI::App* add_prepare(CLI::App& program, PrepareArguments& arguments);

struct FeaturesArguments {
  std::string input;
  std::string output;
  std::string like;
  std::int64_t rate = 16000;
  std::int64_t bins = 80;
  double window = 25;  // milliseconds
  double hop = 10;
  std::string normalise = "item";
  std::optional<std::int64_t> threads;
};

CLI::App* add_features(CLI::App& program, FeaturesArguments& arguments);

// The form of a translation in the output.
struct LineFormat {
  bool scores = false;
  bool word_scores = false;
  bool json = false;
};

// The attention that is written and drawn.
struct AttentionChoice {
  std::vector<std::string> maps = {"source"};
  std::int64_t layer = 0;  // from 1; 0: not given
  std::int64_t head = 0;   // from 1; 0: not given
};

// Files of which line i has the constraints on the translation of input line i.
struct ConstraintFiles {
  std::string prefixes;
  std::string require;
  std::string ban;
};

struct TranslateArguments {
  ModelArguments model;
  ShortlistOptions shortlist;
  SearchArguments search;
  std::string input;
  std::string output;
  std::int64_t n_best = 0;
  LineFormat format;
  std::string alignments;
  std::string picture;
  std::string attention_scale = "absolute";
  AttentionChoice attention;
  std::string attention_weights;
  ConstraintFiles constraints;
  std::string glossary;
  std::string text_format;  // of the input; empty: by the ending of its name
  bool markup = false;
  std::vector<std::string> keep;
  std::string dictionary;
  bool replace_unknown = false;
  std::int64_t split_length = 0;  // words; 0: lines are split into sentences
  bool whole_lines = false;       // split none
  std::string report;
  bool show_attention = false;
  bool explain = false;
};

CLI::App* add_translate(CLI::App& program, TranslateArguments& arguments);
// Throws ConfigError if options contradict each other, the search or the model. `options` are those
// of the first of the `members` models that translate together, or of the only one.
void check_translate(const TranslateArguments& arguments, const SearchOptions& search,
                     const Options& options, std::size_t members);

// Returns the longest part of a line in words, 0 if the parts are sentences, or nullopt if lines
// stay whole: because of --whole-lines, or because another option or the model needs that.
std::optional<std::int64_t> longest_part(const TranslateArguments& arguments,
                                         const SearchOptions& search, const Options& options);

struct SynthesizeArguments {
  ModelArguments model;
  ShortlistOptions shortlist;
  SearchArguments search;
  std::string input;
  std::string output;  // without the suffixes of the files
  std::string side = "source";
  std::string tag;
  std::optional<double> min_score;
  std::optional<double> max_ratio;
  std::int64_t min_length = 0;
  std::optional<std::int64_t> max_length;
  bool keep_unfinished = false;
  bool keep_copies = false;
  bool keep_duplicates = false;
  bool fresh = false;
};

CLI::App* add_synthesize(CLI::App& program, SynthesizeArguments& arguments);

struct EvaluateArguments {
  ModelArguments model;
  ShortlistOptions shortlist;
  SearchArguments search;
  bool each = false;  // score each model by itself, not as an ensemble
  std::string source;
  std::vector<std::string> references;
  std::vector<std::string> hypotheses;
  std::string output;
  std::vector<std::string> metrics;  // empty: the default ones
  MetricSettings settings;
  std::vector<std::size_t> by_length;  // upper bounds of the length groups, in source words
  std::string by_length_svg;
  std::string labels;                 // file with a label for each line, to score by label
  std::vector<std::string> compared;  // translations of other systems, one file each
  std::vector<std::string> training;  // target texts of the training data
  std::string gold;                   // word alignments
  bool force = false;
  std::string format = "text";
  bool json = false;

  // Returns --metrics, else BLEU and chrF. The command adds the metric of the model to the latter.
  std::vector<std::string> metrics_or_default() const;
  // Returns the files of --hypotheses, then those of --compare.
  std::vector<std::string> system_files() const;
};

CLI::App* add_evaluate(CLI::App& program, EvaluateArguments& arguments);
// Throws ConfigError if options contradict each other.
void check_evaluate(const EvaluateArguments& arguments);

struct ScoreArguments {
  ModelArguments model;
  std::string source;
  std::string target;
  std::string n_best;
  std::string feature = "regard";
  bool swap = false;
  bool per_token = false;
  std::string output;
  std::int64_t batch_size = 64;
  bool words = false;
  bool json = false;
  std::string align;
  std::string reverse;
  ModelTags reverse_tags;
  std::string symmetrise = "grow-diag-final-and";
  std::string gold;  // word alignments
};

CLI::App* add_score(CLI::App& program, ScoreArguments& arguments);

struct RerankArguments {
  std::string input;
  std::string output;
  std::string weights;              // a file
  std::vector<std::string> weight;  // NAME=X
  std::int64_t n_best = 0;
  bool tune = false;
  std::vector<std::string> references;
  std::string metric = "bleu";
  std::vector<std::string> list_features;  // empty: all of the list
  bool no_length = false;
  std::size_t restarts = 20;
  std::uint64_t seed = 1;
  std::int64_t threads = 0;
};

CLI::App* add_rerank(CLI::App& program, RerankArguments& arguments);
// Throws ConfigError if options contradict each other.
void check_rerank(const RerankArguments& arguments);

struct ShortlistArguments {
  ModelArguments model;
  std::string source;
  std::string target;
  std::string alignments;
  std::string output;
};

CLI::App* add_shortlist(CLI::App& program, ShortlistArguments& arguments);

struct AverageArguments {
  std::vector<std::string> models;
  std::int64_t last = 0;  // 0: not given
  std::int64_t best = 0;  // 0: not given
  bool force = false;
  std::string output;
};

CLI::App* add_average(CLI::App& program, AverageArguments& arguments);

struct QuantizeArguments {
  std::string model;
  std::string output;
};
CLI::App* add_quantize(CLI::App& program, QuantizeArguments& arguments);

struct ServeArguments {
  std::vector<std::string> models;      // "NAME=MODEL" or "MODEL"
  std::vector<std::string> glossaries;  // "NAME=FILE" or "FILE"
  ModelArguments device;                // without models
  SearchArguments search;
  std::string host = "127.0.0.1";
  std::int64_t port = 8080;
  std::string token_file;
  bool log_text = false;
  std::vector<std::string> host_names;
  std::vector<std::string> allowed_origins;
  std::int64_t max_connections = 1024;
  std::int64_t max_waiting = 2000;
  std::int64_t max_lines = 1000;
  std::int64_t max_characters = 10000;
  std::int64_t max_beam_size = 20;
  std::int64_t request_memory = 64;  // MB
  std::int64_t max_memory = 512;     // MB
  std::int64_t timeout = 60;
  std::int64_t receive_timeout = 10;
  std::int64_t stop_timeout = 30;
};

CLI::App* add_serve(CLI::App& program, ServeArguments& arguments);

struct InfoArguments {
  std::vector<std::string> models;  // several are runs to compare
  bool json = false;
};

CLI::App* add_info(CLI::App& program, InfoArguments& arguments);

struct ReportArguments {
  ModelArguments model;  // its models are the runs
  std::string output;
  std::string source;
  std::string reference;
  std::string hypotheses;
  std::int64_t sentences = 5;
};

CLI::App* add_report(CLI::App& program, ReportArguments& arguments);

struct ExportArguments {
  std::string model;
  std::string format;
  std::string output;
  std::string quantization;  // of ctranslate2
  bool force = false;
};

CLI::App* add_export(CLI::App& program, ExportArguments& arguments);

struct PipelineArguments {
  std::string plan;
  std::vector<std::string> variables;  // "variable=value"
  std::int64_t jobs = 1;
  std::int64_t threads = 0;
  bool dry_run = false;
  bool fresh = false;
  bool json = false;
};

CLI::App* add_pipeline(CLI::App& program, PipelineArguments& arguments);

// Adds the command `config` without its subcommands, which the functions below add.
CLI::App* add_config(CLI::App& program);

struct ConfigArguments {
  std::string config;
  std::vector<std::string> overrides;
  bool help_comments = false;
};

CLI::App* add_config_print(CLI::App& config, ConfigArguments& arguments);

struct ConfigInitArguments {
  std::string source;
  std::string target;
  std::vector<std::string> dev;  // empty, two files, or one with both sides
  std::int64_t split = 0;        // number of pairs to use for validation
  std::string architecture;      // empty: by the number of pairs
  std::string name;
  std::string output;
  bool yes = false;
};

CLI::App* add_config_init(CLI::App& config, ConfigInitArguments& arguments);

struct ConfigConvertArguments {
  std::string input;
  std::string output;
};

CLI::App* add_config_convert(CLI::App& config, ConfigConvertArguments& arguments);

struct ConfigDocsArguments {
  std::string key;  // a key or a section; empty: all
};

CLI::App* add_config_docs(CLI::App& config, ConfigDocsArguments& arguments);

struct ConfigSchemaArguments {};

CLI::App* add_config_schema(CLI::App& config, ConfigSchemaArguments& arguments);

struct CompletionsArguments {
  std::string shell;
};

struct ManArguments {
  std::string command;
  std::string into;
};

CLI::App* add_completions(CLI::App& program, CompletionsArguments& arguments);
CLI::App* add_man(CLI::App& program, ManArguments& arguments);

constexpr auto max_whole_number = std::numeric_limits<std::uint64_t>::max();

// Strict validators for numbers. CLI11's own conversions accept too much: -5 becomes 2⁶⁴ − 5 for an
// unsigned type, 010 is octal, a number beyond the type is clamped, and nan is inside every range.
// Use them with Option::transform(), not check(): they also rewrite the text, 010 as 10.

// Accepts only decimal digits, from `min` to `max`.
CLI::Validator whole_number(std::uint64_t min, std::uint64_t max = max_whole_number);

// Accepts a finite number from `min` to `max`. Either limit may be infinite.
CLI::Validator real_number(double min, double max = std::numeric_limits<double>::infinity());

}  // namespace regard
