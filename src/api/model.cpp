#include "regard/model.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <filesystem>
#include <limits>
#include <list>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/strings.h"
#include "base/thread_pool.h"
#include "config/reader.h"
#include "data/line_checks.h"
#include "kernels/device.h"
#include "text/tokenizer.h"
#include "text/unicode.h"
#include "translation/engine.h"
#include "translation/ensemble_folders.h"
#include "translation/explanation.h"
#include "translation/front_end.h"
#include "translation/long_lines.h"
#include "translation/model_folder.h"
#include "translation/translator.h"
#include "translation/word_alignment.h"

namespace regard {
namespace {

constexpr std::int64_t score_batch_size = 64;
// Time between two calls of `progress`. More of them would take time from the threads.
constexpr auto progress_interval = std::chrono::milliseconds(20);

Model::Hypothesis convert(const Hypothesis& hypothesis, const Translation& translation,
                          const Translator& translator, const DataOptions& data) {
  Model::Hypothesis result{translator.text(hypothesis, translation),
                           hypothesis.log_probability,
                           ranking_score(hypothesis),
                           translator.tokens(hypothesis, translation),
                           hypothesis.token_log_p,
                           hypothesis.weights,
                           {}};
  if (hypothesis.weights.empty()) return result;
  for (const auto& link : align_words(hypothesis, translation, result.tokens, data)) {
    result.alignment.emplace_back(link.source, link.target);
  }
  return result;
}

std::vector<Model::Translation> convert(const std::vector<Translation>& translations, std::size_t n,
                                        const TranslationModel& model,
                                        const Translator& translator) {
  std::vector<Model::Translation> all;
  for (const auto& translation : translations) {
    all.emplace_back();
    if (translation.hypotheses.empty()) continue;
    all.back().source_tokens = translation.source_tokens;
    for (std::size_t k = 0; k < std::min(n, translation.hypotheses.size()); ++k) {
      all.back().hypotheses.push_back(
          convert(translation.hypotheses[k], translation, translator, model.options.data));
    }
  }
  return all;
}

// Splits each matrix into its rows.
Model::HeadWeights split_rows(const HeadWeights& weights, std::size_t columns) {
  Model::HeadWeights split;
  for (const auto& layer : weights) {
    split.emplace_back();
    for (const auto& head : layer) {
      auto& rows = split.back().emplace_back();
      for (auto row = head.begin(); row != head.end();
           row += static_cast<std::ptrdiff_t>(columns)) {
        rows.emplace_back(row, row + static_cast<std::ptrdiff_t>(columns));
      }
    }
  }
  return split;
}

std::function<void(std::int64_t)> as_reporter(const Model::Progress& progress) {
  if (!progress) return {};
  return [&progress](std::int64_t finished) { progress(static_cast<std::size_t>(finished)); };
}

// Checks that each text is one line of UTF-8, with or without its line feed.
std::vector<std::string> check_lines(std::vector<std::string> lines, const std::string& name) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (const auto at = first_invalid_utf8(lines[i]); at != std::string_view::npos) {
      throw InputError("{}:{}: byte {} is not UTF-8", name, i + 1, at + 1);
    }
    if (lines[i].ends_with('\n')) lines[i].pop_back();
    if (const auto at = lines[i].find('\n'); at != std::string::npos) {
      throw InputError("{}:{}: byte {} is a line feed, expected one line; split the text", name,
                       i + 1, at + 1);
    }
  }
  return lines;
}

// Returns the exception of a job, or null.
template <typename Job>
std::exception_ptr exception_of(const Job& job) {
  try {
    job();
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

}  // namespace

// Gives the threads of a model to its callers in the order in which they ask: translations share
// an engine, and any other call has the threads for itself.
class Callers {
 public:
  explicit Callers(const Translator& translator) : translator_(translator) {}

  // Returns job(engine). Calls with the same batch size run at the same time. `progress`, if set,
  // is called with 0 during the wait; if it throws, the job does not run.
  template <typename Job>
  auto translate(std::int64_t batch_size, const Model::Progress& progress, const Job& job) {
    enter(batch_size, progress);
    const Leave leave{*this};
    return job(*engine_);
  }
  // Returns job(), which may use the threads.
  template <typename Job>
  auto alone(const Model::Progress& progress, const Job& job) {
    enter({}, progress);
    const Leave leave{*this};
    return job();
  }

 private:
  struct Leave {
    Callers& callers;
    ~Leave() {
      const std::lock_guard lock(callers.mutex_);
      --callers.active_;
      callers.changed_.notify_all();
    }
  };

  void enter(std::optional<std::int64_t> batch_size, const Model::Progress& progress) {
    std::unique_lock lock(mutex_);
    const auto place = waiting_.insert(waiting_.end(), 0);
    std::exception_ptr error;
    const auto may_enter = [&] {
      return place == waiting_.begin() &&
             (active_ == 0 || (batch_size && batch_size == batch_size_));
    };
    while (!error && !changed_.wait_for(lock, progress_interval, may_enter)) {
      lock.unlock();
      error = exception_of([&] {
        if (progress) progress(0);
      });
      lock.lock();
    }
    if (!error) error = exception_of([&] { use_engine(batch_size); });
    if (!error) ++active_;
    waiting_.erase(place);
    changed_.notify_all();
    if (error) std::rethrow_exception(error);
  }

  // The mutex is locked. The engine remains until a call needs another or none.
  void use_engine(std::optional<std::int64_t> batch_size) {
    if (batch_size == batch_size_) return;
    batch_size_ = {};
    engine_.reset();
    if (batch_size) engine_ = std::make_unique<Engine>(translator_, *batch_size);
    batch_size_ = batch_size;
  }

  const Translator& translator_;
  std::mutex mutex_;  // guards all members below
  std::condition_variable changed_;
  std::list<char> waiting_;  // one element per caller, in order of arrival
  std::size_t active_ = 0;   // number of callers that were admitted and have not left
  std::unique_ptr<Engine> engine_;
  std::optional<std::int64_t> batch_size_;  // of the engine; none without an engine
};

// Translates lines as one request: returns the translations of the parts of each line. Calls
// `progress` on this thread.
std::vector<std::vector<Translation>> translate_request(Engine& engine,
                                                        std::vector<QueuedLine> lines,
                                                        const SearchRequest& options,
                                                        const TextCodec& codec,
                                                        std::shared_ptr<const Glossary> glossary,
                                                        const Model::Progress& progress) {
  std::mutex mutex;  // guards the variables below
  std::condition_variable complete;
  std::vector<std::vector<Translation>> translations(lines.size());
  std::size_t finished = 0;
  std::exception_ptr error;  // of progress, else of the first line that has one
  auto error_line = std::numeric_limits<std::size_t>::max();
  bool is_cancelled = false;

  TranslationRequest request{.lines = std::move(lines),
                             .search = options,
                             .codec = codec,
                             .glossary = std::move(glossary),
                             .finished = {}};
  request.finished = [&](std::size_t line, std::vector<Translation> sentences,
                         const std::exception_ptr& line_error) {
    const std::lock_guard lock(mutex);
    if (!line_error) translations[line] = std::move(sentences);
    if (line_error && !is_cancelled && line < error_line) {
      error = line_error;
      error_line = line;
    }
    if (++finished == translations.size()) complete.notify_all();
  };
  const auto number = engine.submit(std::move(request));

  std::unique_lock lock(mutex);
  for (std::size_t reported = 0; reported < translations.size();) {
    complete.wait_for(lock, progress_interval, [&] { return finished == translations.size(); });
    reported = finished;
    if (progress && !error) {
      lock.unlock();
      const auto thrown = exception_of([&] { progress(reported); });
      lock.lock();
      if (thrown) error = thrown;
    }
    if (error && !is_cancelled) {
      is_cancelled = true;
      engine.cancel(number);
    }
  }
  if (error) std::rethrow_exception(error);
  return translations;
}

struct Model::Parts {
  // The threads and the packed weights that models with different tags have in common.
  struct Shared {
    Shared(const TranslationModel& contents, torch::Device device, std::int64_t threads,
           kernels::Precision precision)
        : pool(make_thread_pool(threads, device)),
          translator(contents.model, contents.codec, device, *pool, precision),
          callers(translator) {}

    std::unique_ptr<ThreadPool> pool;
    Translator translator;
    Callers callers;
  };

  Parts(const std::vector<std::string>& folders, const Ensemble& ensemble,
        const std::string& device_name, std::int64_t threads, const std::string& precision_name,
        const std::string& source_tag, const std::string& target_tag)
      : device(find_device(device_name)) {
    if (folders.empty()) throw ConfigError("found no model, expected at least one");
    const auto precision = kernels::find_precision(precision_name, device);
    if (precision_name == "tf32") allow_tf32(true);
    std::vector<std::filesystem::path> paths(folders.begin(), folders.end());
    contents = load_ensemble(paths, device, {ensemble.mean, ensemble.weights, "ensemble_"});
    front_end = std::make_shared<FrontEnd>(contents);
    set_tags(source_tag, target_tag);
    target_limit = target_line_limit(contents.codec, contents.options.data);
    shared = std::make_shared<Shared>(contents, device, threads, precision);
  }

  void set_tags(const std::string& source_tag, const std::string& target_tag) {
    contents.codec = tagged_codec(contents, {"src_tag", source_tag}, {"trg_tag", target_tag});
  }

  SearchOptions search_with(const std::vector<std::string>& changes) const {
    auto search = contents.options.search;
    for (const auto& option : changes) assign_option(search, option, "search option");
    check_search(search, *contents.model);
    return search;
  }

  // The lines with their constraints and parts, which are cut if they are too long.
  std::vector<QueuedLine> queue(const std::vector<std::string>& lines, const LineOptions& options,
                                const SearchRequest& search) const {
    if (options.whole_lines && options.split_length > 0) {
      throw ConfigError("found whole_lines and split_length, expected one of them");
    }
    const auto& constraints = options.constraints;
    if (constraints.size() > 1 && constraints.size() != lines.size()) {
      throw ConfigError("constraints: found {}, expected one for each of {}", constraints.size(),
                        counted(lines.size(), "line"));
    }
    std::vector<SentenceOptions> sentences;
    sentences.reserve(constraints.size());
    for (const auto& [prefix, require, ban] : constraints) {
      sentences.push_back(
          front_end->phrases().encode({prefix, require, ban}, search.max_output_length));
    }
    std::vector<QueuedLine> queued;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      QueuedLine line{.text = lines[i]};
      if (!sentences.empty()) line.options = sentences[sentences.size() == 1 ? 0 : i];
      line.options.number = static_cast<std::int64_t>(i) + 1;
      const auto max_words =
          front_end->max_words(static_cast<std::int64_t>(options.split_length), options.whole_lines,
                               search, line.options.has_constraints());
      if (max_words) line.parts = front_end->split(lines[i], *max_words);
      const auto number = line.options.number;
      for (auto& part : line.parts) truncate_line(part, front_end->limit(), "line", number);
      if (line.parts.empty()) truncate_line(line.text, front_end->limit(), "line", number);
      queued.push_back(std::move(line));
    }
    return queued;
  }

  std::shared_ptr<const Glossary> glossary_of(const LineOptions& options,
                                              const SearchOptions& search) const {
    if (options.glossary_file.empty() && options.glossary.empty()) return nullptr;
    if (search.samples > 0) {
      throw ConfigError(
          "glossary: found samples {}, expected 0: only beam search supports required phrases",
          search.samples);
    }
    auto entries = options.glossary_file.empty() ? std::vector<GlossaryEntry>()
                                                 : read_glossary(options.glossary_file);
    for (const auto& [source, targets] : options.glossary) {
      entries.push_back({source, targets, fmt::format("glossary: `{}`", excerpt(source))});
    }
    return front_end->glossary(entries);
  }

  // Warns of lines whose translations lack required phrases.
  std::vector<regard::Translation> translate(const std::vector<std::string>& lines,
                                             const SearchOptions& search, std::size_t n,
                                             bool want_details, const LineOptions& line_options,
                                             const Progress& progress) const {
    auto options = search_request(search);
    options.n_best = static_cast<std::int64_t>(n);
    options.want_weights = want_details && contents.model->has_attention_weights();
    options.words = front_end->phrases().words();
    const auto queued = queue(check_lines(lines, "line"), line_options, options);
    const auto glossary = glossary_of(line_options, search);
    auto of_parts = shared->callers.translate(search.batch_size, progress, [&](Engine& engine) {
      return translate_request(engine, queued, options, contents.codec, glossary, progress);
    });
    std::vector<regard::Translation> translations;
    for (std::size_t i = 0; i < of_parts.size(); ++i) {
      translations.push_back(front_end->join(std::move(of_parts[i]), contents.codec));
      if (want_details) {
        add_source_tokens(contents.codec, queued[i].text, queued[i].parts, translations[i]);
      }
      if (translations[i].lacks_phrases) {
        log::warning("line {}: no translation was found that has all required phrases{}", i + 1,
                     glossary ? " and terms" : "");
      }
    }
    return translations;
  }

  struct Scored {
    std::vector<std::string> sources;  // truncated
    std::vector<regard::Translation> translations;
  };
  // `function` is named in errors.
  Scored score(const char* function, const std::vector<std::string>& sources,
               const std::vector<std::string>& targets, const Progress& progress) const {
    if (sources.size() != targets.size()) {
      throw InputError("{}: found {} and {}, expected as many of each", function,
                       counted(sources.size(), "source"), counted(targets.size(), "target"));
    }
    auto own_sources = truncate_lines(check_lines(sources, "source"), front_end->limit(), "source");
    const auto own_targets = truncate_lines(check_lines(targets, "target"), target_limit, "target");
    auto translations = shared->callers.alone(progress, [&] {
      return shared->translator.score(own_sources, own_targets,
                                      contents.model->has_attention_weights(), score_batch_size,
                                      as_reporter(progress), &contents.codec);
    });
    for (std::size_t i = 0; i < translations.size(); ++i)
      add_source_tokens(contents.codec, own_sources[i], {}, translations[i]);
    return {std::move(own_sources), std::move(translations)};
  }

  torch::Device device;
  TranslationModel contents;  // with the tags of this model
  LineLimit target_limit;
  std::shared_ptr<const FrontEnd> front_end;
  std::shared_ptr<Shared> shared;
};

Model::Model(const std::string& folder, const std::string& device, std::int64_t threads,
             const std::string& precision, const std::string& source_tag,
             const std::string& target_tag)
    : Model(std::vector{folder}, Ensemble(), device, threads, precision, source_tag, target_tag) {}
Model::Model(const std::vector<std::string>& folders, const Ensemble& ensemble,
             const std::string& device, std::int64_t threads, const std::string& precision,
             const std::string& source_tag, const std::string& target_tag)
    : parts_(std::make_unique<Parts>(folders, ensemble, device, threads, precision, source_tag,
                                     target_tag)) {}
Model::Model(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Model::~Model() = default;
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;

Model Model::with_tags(const std::string& source_tag, const std::string& target_tag) const {
  auto parts = std::make_unique<Parts>(*parts_);
  parts->set_tags(source_tag, target_tag);
  return Model(std::move(parts));
}

std::vector<std::string> Model::translate(const std::vector<std::string>& lines,
                                          const std::vector<std::string>& search,
                                          const Progress& progress,
                                          const LineOptions& line_options) const {
  std::vector<std::string> texts;
  const auto options = parts_->search_with(search);
  const auto& translator = parts_->shared->translator;
  for (const auto& each : parts_->translate(lines, options, 1, false, line_options, progress)) {
    texts.push_back(each.hypotheses.empty() ? "" : translator.text(each.hypotheses[0], each));
  }
  return texts;
}

std::vector<Model::Translation> Model::n_best(const std::vector<std::string>& lines, std::size_t n,
                                              const std::vector<std::string>& search,
                                              const Progress& progress,
                                              const LineOptions& line_options) const {
  const auto options = parts_->search_with(search);
  const bool sampling = options.samples > 0;
  const auto max_n = static_cast<std::size_t>(sampling ? options.samples : options.beam_size);
  if (n < 1 || n > max_n) {
    throw ConfigError("n_best: found {}, expected 1 to {} ({})", n, max_n,
                      sampling ? "samples" : "beam_size");
  }
  return convert(parts_->translate(lines, options, n, true, line_options, progress), n,
                 parts_->contents, parts_->shared->translator);
}

std::vector<Model::Translation> Model::score(const std::vector<std::string>& sources,
                                             const std::vector<std::string>& targets,
                                             const Progress& progress) const {
  const auto scored = parts_->score("score", sources, targets, progress);
  return convert(scored.translations, 1, parts_->contents, parts_->shared->translator);
}

std::vector<Model::SelfAttention> Model::self_attention(const std::vector<std::string>& sources,
                                                        const std::vector<std::string>& targets,
                                                        const Progress& progress) const {
  Progress while_scoring;
  if (progress) while_scoring = [&](std::size_t) { progress(0); };
  const auto scored = parts_->score("self_attention", sources, targets, while_scoring);
  std::vector<SelfAttention> all(scored.sources.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& translation = scored.translations[i];
    if (translation.hypotheses.empty()) continue;
    auto own = regard::self_attention(parts_->contents, parts_->device,
                                      parts_->shared->translator.packed_weights(),
                                      scored.sources[i], translation, /*index=*/0);
    all[i].encoder = split_rows(own.encoder, own.source_tokens.size());
    all[i].decoder = split_rows(own.decoder, own.inputs.size());
    all[i].source_tokens = std::move(own.source_tokens);
    all[i].decoder_inputs = std::move(own.inputs);
    if (progress) progress(i + 1);
  }
  return all;
}

}  // namespace regard
