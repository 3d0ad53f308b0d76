#include "config/check.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "base/special_tokens.h"
#include "base/strings.h"
#include "config/scalar.h"

namespace regard {

void check_metric(const TrainingOptions& o, const std::string& key, const std::string& reason,
                  ConfigErrors& errors) {
  const auto metric = o.early_stopping_metric;
  if (metric == Metric::loss || metric == Metric::perplexity) return;
  errors.add(key,
             "{}training.early_stopping_metric is {}: nothing is translated; set the metric to "
             "perplexity or loss",
             reason, to_yaml(metric));
}

namespace {

// The smallest weight of a corpus except 0. With a smaller weight, an epoch would use less
// than one pair on average, even of a corpus with a million pairs.
constexpr double min_corpus_weight = 1e-6;

// Returns a description of what is wrong with a user symbol, or an empty text.
std::string symbol_fault(const std::string& symbol) {
  if (symbol.empty()) return "is empty";
  if (std::ranges::count(special_names, symbol) > 0) return "is the name of a special token";
  if (symbol.find_first_of(" \t\n\v\f\r") != std::string::npos) return "contains white space";
  for (const auto* reserved : {"\u2581", "\u2585"}) {
    if (symbol.find(reserved) != std::string::npos) {
      return "contains a character that SentencePiece reserves";
    }
  }
  return "";
}

void check_user_symbols(const TokenizerOptions& o, ConfigErrors& errors) {
  std::set<std::string> seen;
  for (const auto& symbol : o.user_symbols) {
    const auto fault = seen.insert(symbol).second ? symbol_fault(symbol) : "is there twice";
    if (fault.empty()) continue;
    errors.add("data.tokenizer.user_symbols",
               ": found {}, which {}; choose distinct texts such as <2de>", to_yaml(symbol), fault);
  }
}

// Checks a tag of a corpus. `key` is that of the tag.
void check_tag(const std::string& key, const std::string& tag, const DataOptions& o,
               ConfigErrors& errors) {
  const auto& symbols = o.tokenizer.user_symbols;
  if (tag.empty() || std::ranges::count(symbols, tag) > 0) return;
  errors.add(key, ": found {}, expected one of data.tokenizer.user_symbols, {}; add it there",
             to_yaml(tag), symbols.empty() ? "which is empty" : "which are " + to_yaml(symbols));
}

void check_tags(const Options& options, ConfigErrors& errors) {
  const auto& o = options.data;
  const auto check = [&](const std::string& key, const auto& pair) {
    check_tag(key + ".src_tag", pair.src_tag, o, errors);
    check_tag(key + ".trg_tag", pair.trg_tag, o, errors);
    const bool has_words = o.source == SourceKind::text && options.model.encoder.numbers == 0 &&
                           options.model.kind != ModelKind::language_model &&
                           options.model.output.kind != OutputKind::pointer;
    if (!pair.src_tag.empty() && !has_words) {
      errors.add(key + ".src_tag",
                 ": found {}, but the source is not a sentence of words; remove it",
                 to_yaml(pair.src_tag));
    }
    const bool starts_with_token = options.model.output.kind != OutputKind::pointer &&
                                   options.model.kind != ModelKind::masked_language_model;
    if (!pair.trg_tag.empty() && !starts_with_token) {
      errors.add(key + ".trg_tag", ": found {}, but the model generates no tokens; remove it",
                 to_yaml(pair.trg_tag));
    }
  };
  for (std::size_t i = 0; i < o.train.size(); ++i) {
    check(fmt::format("data.train.{}", i), o.train[i]);
  }
  check("data.dev", o.dev);
}

// Adds an error if only one file of a pair is named, or none although `needed`.
void check_pair(const std::string& key, const std::string& src, const std::string& trg, bool needed,
                ConfigErrors& errors) {
  if (src.empty() && trg.empty()) {
    if (needed) errors.add(key, ": found no files, expected src and trg");
  } else if (src.empty() || trg.empty()) {
    errors.add(key, ": found only {} ({}), expected {}.{} as well", src.empty() ? "trg" : "src",
               src.empty() ? trg : src, key, src.empty() ? "src" : "trg");
  }
}

void check_corpora(const DataOptions& o, ConfigErrors& errors) {
  if (o.train.empty() && o.prepared.empty()) {
    errors.add("data.train", " names no corpus; add at least one, with src and trg");
  }
  for (std::size_t i = 0; i < o.train.size(); ++i) {
    check_pair(fmt::format("data.train.{}", i), o.train[i].src, o.train[i].trg, true, errors);
    const auto weight = o.train[i].weight;
    if (weight == 0 || weight >= min_corpus_weight) continue;
    errors.add(fmt::format("data.train.{}.weight", i),
               ": found {}, expected at least {}, or 0 to leave the corpus out", weight,
               min_corpus_weight);
  }
  const bool all_off = std::all_of(o.train.begin(), o.train.end(),
                                   [](const CorpusOptions& corpus) { return corpus.weight == 0; });
  if (all_off && !o.train.empty()) {
    errors.add("data.train", ": every corpus has weight 0; raise one");
  }
  check_pair("data.dev", o.dev.src, o.dev.trg, false, errors);
}

// A language model reads one text, the target side of each corpus.
void check_single_text(const Options& options, ConfigErrors& errors) {
  const auto check = [&](const std::string& key, const auto& pair) {
    if (pair.src == pair.trg) return;
    errors.add(key + ".src", ": found {}, but a model of kind {} reads only trg; {}",
               to_yaml(pair.src), to_yaml(options.model.kind),
               pair.trg.empty() ? "name the file trg" : "remove src");
  };
  const auto& data = options.data;
  for (std::size_t i = 0; i < data.train.size(); ++i) {
    check(fmt::format("data.train.{}", i), data.train[i]);
  }
  check("data.dev", data.dev);
}

void check_noise(const Options& options, ConfigErrors& errors) {
  const auto& data = options.data;
  if (data.noise.span_length > 0 && data.noise.span_length < 0.5) {
    errors.add("data.noise.span_length", ": found {}, expected 0 or at least 0.5",
               data.noise.span_length);
  }
  if (options.model.kind != ModelKind::translation) check_single_text(options, errors);
  if (options.model.kind != ModelKind::translation || !is_active(data.noise)) return;
  const bool has_copy = std::ranges::any_of(data.train, [&](const CorpusOptions& corpus) {
    return corpus.weight > 0 && is_denoising(data, corpus);
  });
  if (!has_copy && data.prepared.empty()) {
    errors.add("data.noise",
               " is on, but no corpus of data.train has the same file as src and trg, which is "
               "what is reconstructed from noise; add such a corpus, or remove data.noise");
  }
  const auto reject = [&](const std::string& why) {
    errors.add("data.noise", " is on, which changes source tokens, but {}; remove data.noise", why);
  };
  if (refers_to_source(options.model.output.kind)) {
    reject(fmt::format("model.output.kind is {}, which reads them from the text",
                       enum_name(options.model.output.kind)));
  }
  if (options.model.encoder.numbers > 0) {
    reject(fmt::format("model.encoder.numbers is {}: they are vectors",
                       options.model.encoder.numbers));
  }
  if (is_denoising(data, data.dev)) {
    check_metric(options.training, "data.dev", " reconstructs a text from noise, but ", errors);
  }
}

void check_hallucination(const Options& options, ConfigErrors& errors) {
  if (options.data.hallucination.rate == 0) return;
  const auto reject = [&](const std::string& why) {
    errors.add("data.hallucination.rate",
               " is above 0, which replaces tokens that both sides have, but {}; set it to 0", why);
  };
  if (options.data.source == SourceKind::features) {
    reject("data.source is features");
  } else if (options.model.encoder.numbers > 0) {
    reject(fmt::format("model.encoder.numbers is {}: the source has vectors",
                       options.model.encoder.numbers));
  } else if (options.model.output.kind == OutputKind::pointer) {
    reject("model.output.kind is pointer: the target has positions");
  }
}

void check_numbers(const Options& options, ConfigErrors& errors) {
  const auto& tokenizer = options.data.tokenizer;
  const auto width = options.model.encoder.numbers;
  if (width == 0) return;
  const bool reads_text = options.data.source == SourceKind::text;
  if (reads_text && tokenizer.kind != TokenizerKind::word) {
    errors.add(
        "model.encoder.numbers",
        " is {}: each source word is a vector, but data.tokenizer.kind is {}; set it to word",
        width, to_yaml(tokenizer.kind));
  }
  if (tokenizer.joint || !tokenizer.src_file.empty()) {
    errors.add("model.encoder.numbers",
               " is {}: a source of numbers has no vocabulary; set data.tokenizer.joint to false "
               "and remove src_file",
               width);
  }
}

void check_features(const Options& options, ConfigErrors& errors) {
  if (options.data.source != SourceKind::features) return;
  const auto& encoder = options.model.encoder;
  if (encoder.numbers == 0) {
    errors.add("model.encoder.numbers",
               " is 0, but data.source is features; set it to the number of numbers in a frame, "
               "such as the mel bins of `regard features`, or 3 for each pixel of a row");
  }
  if (refers_to_source(options.model.output.kind)) {
    errors.add("model.output.kind",
               " is {}, but data.source is features, which cannot be copied or pointed to; set it "
               "to vocabulary",
               to_yaml(options.model.output.kind));
  }
  if (encoder.pyramidal && encoder.residual) {
    errors.add("model.encoder.residual",
               " is true, but model.encoder.pyramidal is true too: input and output of a layer "
               "differ in length; set one of them to false");
  }
  if (options.data.remove_duplicates) {
    errors.add("data.remove_duplicates",
               " is true, but data.source is features, which are not compared; set it to false");
  }
  if (!options.data.prepared.empty()) {
    errors.add("data.prepared",
               " is {}, but data.source is features, which are read in place and need no "
               "preparation; remove it",
               to_yaml(options.data.prepared));
  }
}

}  // namespace

void check_tokenizer(const TokenizerOptions& o, ConfigErrors& errors) {
  check_user_symbols(o, errors);
  const bool subwords = o.kind == TokenizerKind::bpe || o.kind == TokenizerKind::unigram;
  if (o.sampling > 0 && !subwords) {
    errors.add("data.tokenizer.sampling",
               " is {}, but data.tokenizer.kind is {}: only bpe and unigram can split a word in "
               "several ways; set sampling to 0",
               o.sampling, to_yaml(o.kind));
  }
  if (o.joint && o.src_file != o.trg_file) {
    errors.add("data.tokenizer.joint",
               " means one vocabulary for both languages, but src_file is {} and trg_file is {}; "
               "set both to the same file, or set joint to false",
               to_yaml(o.src_file), to_yaml(o.trg_file));
  }
}

void check_source(const Options& options, ConfigErrors& errors) {
  check_numbers(options, errors);
  check_features(options, errors);
}

void check_training_data(const Options& options, ConfigErrors& errors) {
  check_corpora(options.data, errors);
  check_tags(options, errors);
  check_noise(options, errors);
  check_hallucination(options, errors);
}

}  // namespace regard
