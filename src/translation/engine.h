// Translates requests from many threads with one model. All requests share the threads and the
// batches of the model: sentences join a running batch when others have finished
// (continuous_batch.h), so that neither a long sentence nor a large request holds up the others. A
// document, a line of many parts, enters the batches as its sentences, a few at a time.
//
// A translation does not depend on the other sentences in its batch, bit by bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "decoding/search.h"
#include "translation/translation_queue.h"
#include "translation/translator.h"

namespace regard {

// Lines with the same search options and tags.
struct TranslationRequest {
  std::vector<QueuedLine> lines;
  SearchRequest search;
  // Those of the translator with other tags, or nullopt for those of the translator.
  std::optional<TextCodec> codec = {};
  std::shared_ptr<const Glossary> glossary = {};
  // Called once for each line, as soon as it is finished: with its translation, one for each part
  // of the line or one for the whole line, or with its error. Called in any order and from several
  // threads at once. Must not throw. An InputError names the line by SentenceOptions::number.
  // After cancel(), the error of the lines that were not finished is a CancelledSearch.
  std::function<void(std::size_t line, std::vector<Translation> sentences,
                     std::exception_ptr error)>
      finished;
  // If set, called after each decoding step with the text of the best hypothesis so far of a part
  // of a line. Called as `finished`, and before it for the same line. Must not throw.
  std::function<void(std::size_t line, std::size_t part, std::string text)> progress = {};
};

class Engine {
 public:
  // Translates on the threads of the translator's pool, which nothing else may use while the engine
  // lives. A batch has at most `batch_size` sentences. The translator must outlive the engine.
  Engine(const Translator& translator, std::int64_t batch_size);
  // Cancels what is not finished, and waits for it.
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Takes a request and returns at once, with the request's number. The requests are served in
  // turn, some sentences of each. Thread-safe.
  std::uint64_t submit(TranslationRequest request);
  // Ends a request at its next decoding step. Does nothing if it has finished. Thread-safe.
  void cancel(std::uint64_t request);

  // Numbers of the engine's work so far. Thread-safe.
  struct Statistics {
    std::uint64_t finished_lines = 0;        // with a translation
    std::uint64_t failed_lines = 0;          // with an error
    std::uint64_t unfinished_sentences = 0;  // waiting or in a batch
    std::uint64_t source_tokens = 0;         // of the translated lines, without </s>
    std::uint64_t target_tokens = 0;         // of their best hypotheses, without </s>
  };
  Statistics statistics() const;

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

}  // namespace regard
