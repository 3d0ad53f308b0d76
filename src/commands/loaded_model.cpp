#include "commands/loaded_model.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/owned_files.h"
#include "base/special_tokens.h"
#include "base/strings.h"
#include "checkpoint/folder.h"
#include "checkpoint/run_folder.h"
#include "config/scalar.h"
#include "data/byte_stream.h"
#include "data/feature_file.h"
#include "data/line_checks.h"
#include "kernels/device.h"
#include "model/ensemble.h"
#include "translation/ensemble_folders.h"
#include "translation/word_alignment.h"

namespace regard {

namespace {

bool is_language_model(const TranslationModel& model) {
  return model.options.model.kind == ModelKind::language_model;
}

void check_fusion(const TranslationModel& model, const std::filesystem::path& path,
                  const TranslationModel& language_model,
                  const std::filesystem::path& language_model_path) {
  const auto reject = [&](const std::string& why) {
    throw ConfigError("--lm {}: {}", language_model_path.string(), why);
  };
  if (!is_language_model(language_model)) {
    reject(fmt::format("found a model of kind {}, expected language_model",
                       to_yaml(language_model.options.model.kind)));
  }
  if (is_language_model(model)) {
    reject(
        fmt::format("{} is a language model too; make an ensemble of them with -m", path.string()));
  }
  if (refers_to_source(model.codec.output)) {
    reject(fmt::format("{} has model.output.kind {}, expected vocabulary", path.string(),
                       to_yaml(model.codec.output)));
  }
  if (model.codec.target->serialized() != language_model.codec.target->serialized() ||
      model.options.data.tokenizer.lowercase != language_model.options.data.tokenizer.lowercase) {
    reject(
        fmt::format("its vocabulary differs from the target vocabulary of {}; train it with "
                    "data.tokenizer.trg_file set to that of the translation model",
                    path.string()));
  }
}

// A tag of the source can also be in the text; one of the target can only be an option.
void warn_of_missing_tag(const TranslationModel& model, const std::filesystem::path& path,
                         const ModelArguments& arguments) {
  std::vector<std::string> tags;
  for (const auto& corpus : model.options.data.train) {
    if (corpus.trg_tag.empty()) return;
    if (std::ranges::count(tags, corpus.trg_tag) == 0) tags.push_back(corpus.trg_tag);
  }
  if (tags.empty() || !arguments.tags.target.empty()) return;
  log::warning("{}: its training text had the tags of the target {}; {}", path.string(),
               to_yaml(tags),
               arguments.tag_options.empty()
                   ? "data.dev has none; set data.dev.trg_tag and resume the run"
                   : fmt::format("give one with {}trg-tag", arguments.tag_options));
}

}  // namespace

Translator LoadedModel::translator(const ShortlistOptions& shortlist) const {
  Translator translator(contents.model, contents.codec, device, *pool, precision);
  if (!shortlist.file.empty()) {
    check_shortlist(*contents.model, contents.codec);
    translator.use_shortlist(
        Shortlist(shortlist.file, contents.codec, shortlist.frequent, shortlist.best));
  }
  return translator;
}

LoadedModel load_models(const ModelArguments& arguments) {
  const EnsembleSettings ensemble{arguments.ensemble_mean, arguments.ensemble_weights};
  check_ensemble(ensemble, arguments.models.size());
  for (const auto& model : arguments.models) {
    try {
      resolve_model(model);
    } catch (const CheckpointError& error) {
      // -m takes several models, so it takes text that follows it too.
      std::error_code ignored;
      if (&model == &arguments.models.front() || std::filesystem::exists(model, ignored)) throw;
      throw CheckpointError(
          "{}; -m takes every word that follows it for a model: give text on standard input or in "
          "a file (echo '{}' | regard …)",
          error.what(), model);
    }
  }
  const auto device = find_device(arguments.device);
  const auto precision = kernels::find_precision(arguments.precision, device);
  allow_tf32(kernels::is_tf32_search(arguments.precision, device));
  auto pool = make_thread_pool(arguments.threads, device);
  std::vector<std::filesystem::path> paths(arguments.models.begin(), arguments.models.end());
  auto first = load_ensemble(paths, device, ensemble);
  bool is_fused = false;
  if (const auto& name = arguments.language_model; !name.empty()) {
    std::filesystem::path path;
    const auto other = retry_if_removed([&] {
      path = resolve_model(name);
      return load_model(path, device);
    });
    check_fusion(first, paths[0], other, path);
    if (arguments.language_model_weight > 0) {
      is_fused = true;
      first.model = std::make_shared<Ensemble>(
          std::vector<std::shared_ptr<Seq2Seq>>{first.model, other.model}, EnsembleMean::fusion,
          std::vector<double>{1, arguments.language_model_weight},
          other.codec.first_target == bos_id ? std::optional(std::int64_t{bos_id}) : std::nullopt);
      first.model->eval();
    }
  }
  warn_of_missing_tag(first, paths[0], arguments);
  first.codec = tagged_codec(first, {arguments.tag_options + "src-tag", arguments.tags.source},
                             {arguments.tag_options + "trg-tag", arguments.tags.target});
  const auto members = paths.size() + (is_fused ? 1 : 0);
  return {paths[0], members, device, precision, std::move(pool), std::move(first)};
}

SourceKind source_kind(const ModelArguments& arguments, const std::string& source) {
  if (arguments.models.empty() || !is_feature_file(source)) return SourceKind::text;
  return retry_if_removed([&] {
    const FolderReader folder(resolve_model(arguments.models[0]));
    return read_model_options(folder).data.source;
  });
}

std::vector<std::string> truncate_source_lines(const LoadedModel& model,
                                               std::vector<std::string> lines,
                                               const std::string& path) {
  const auto limit = source_line_limit(model.contents.codec, model.contents.options.data);
  return truncate_lines(std::move(lines), limit, input_name(path));
}

std::vector<std::string> truncate_target_lines(const LoadedModel& model,
                                               std::vector<std::string> lines,
                                               const std::string& path) {
  const auto limit = target_line_limit(model.contents.codec, model.contents.options.data);
  return truncate_lines(std::move(lines), limit, input_name(path));
}

void require_translation(const LoadedModel& model, const char* command) {
  if (model.contents.options.model.kind == ModelKind::translation) return;
  throw ConfigError(
      "{}: {} is a language model, which translates nothing; `regard score` prints its "
      "probabilities and perplexity, `regard translate` continues lines",
      command, model.path.string());
}

void check_model_output(std::string_view command, const std::vector<std::filesystem::path>& models,
                        const std::filesystem::path& output) {
  const auto reject = [&](const char* what) {
    throw ConfigError("{}: {} is {}; choose another name with -o", command, output.string(), what);
  };
  std::error_code ignored;
  for (const auto& model : models) {
    if (std::filesystem::equivalent(model, output, ignored)) {
      reject(models.size() == 1 ? "the model itself" : "one of the models");
    }
  }
  check_output_path(output);
  if (is_run_folder(output)) reject("a training run");
  check_replaceable(output);
}

std::vector<Alignment> alignments_of(const LoadedModel& model,
                                     const std::vector<Translation>& translations) {
  const auto& contents = model.contents;
  std::vector<Alignment> alignments;
  for (const auto& translation : translations) {
    alignments.emplace_back();
    if (translation.hypotheses.empty()) continue;
    const auto& hypothesis = translation.hypotheses[0];
    alignments.back() = align_words(hypothesis, translation,
                                    hypothesis_tokens(contents.codec, hypothesis, translation),
                                    contents.options.data);
  }
  return alignments;
}

}  // namespace regard
