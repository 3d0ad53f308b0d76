// Translates a stream of independent lines on all threads of a pool. ordered_lines.h keeps the
// order of a file.
//
// Each thread repeatedly takes the first of these jobs that is available:
//
//   1. tokenize a block of lines
//   2. read a full window of lines ahead
//   3. translate a batch
//   4. read the lines that have arrived, even if they are few
//
// The sentences of a window are sorted by length and handed out in batches, longest first. While
// the last batches of a window are translated, the next window is read, tokenized and begun, so
// that no thread waits for the slowest batch. If few sentences are left, the batches become
// smaller, so that all threads end at about the same time.
//
// A search may take more sentences while it runs. It does if the lines come from several callers,
// so that none waits for the end of a batch; for that it also does jobs 1, 2 and 4.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "data/text_codec.h"
#include "decoding/search.h"
#include "translation/glossary.h"

namespace regard {

struct Segment;

struct Translation {
  std::string text;                // the best hypothesis
  std::int64_t source_length = 0;  // number of tokens, without </s>
  // With </s>, one per column of the attention weights. Empty unless the weights are requested.
  std::vector<std::string> source_tokens;
  std::vector<std::size_t> tags;  // positions in source_tokens of tags that are not in the text
  double column_seconds = 0;      // time between two columns, if it is known; 0 for text
  std::vector<Hypothesis> hypotheses;      // best first; empty for an empty line
  std::vector<std::string> oov_words;      // as in SourceLine
  std::vector<std::string> unknown_words;  // source tokens that the model reads as <unk>
  // A hypothesis lacks a required phrase or the translation of a term. Banned phrases or the
  // maximum length can make that inevitable.
  bool lacks_phrases = false;
};

// The options that all lines of a group share.
struct LineGroup {
  SearchRequest search;            // its `cancelled` must be empty
  std::optional<TextCodec> codec;  // with the tags of the group; nullopt: the translator's
  std::shared_ptr<const Glossary> glossary;  // null: none
  bool wants_partial = false;                // calls LineStream::partial()
  std::atomic<bool> cancelled = false;  // the lines that are not finished end with CancelledSearch
};

// A line on its way from input to output.
struct QueuedLine {
  std::string text;
  SentenceOptions options = {};
  std::vector<std::string> parts = {};    // translated one by one; empty: the line is one sentence
  std::shared_ptr<LineGroup> group = {};  // null: the search options are those of the queue
  std::size_t index = 0;                  // for use by the stream
  Translation translation = {};           // for use by the stream
  std::string output = {};                // for use by the stream
  std::shared_ptr<const Segment> segment = {};  // for use by the stream: what `text` is part of

  std::size_t bytes() const;
};

struct QueuedSentence;
struct QueueWindow;

// The input and output of a TranslationQueue. The queue calls each function from any thread;
// finish(), fail() and partial() also from several threads at once. read() and progress() do not
// overlap themselves, but each may overlap the others. An exception ends the queue.
class LineStream {
 public:
  virtual ~LineStream() = default;

  // Appends the lines that have arrived to `lines`, in input order. Appends nothing if too few have
  // arrived: with `few`, at least one line is enough, else the lines must fill a window. Returns
  // false at the end of the input.
  virtual bool read(bool few, std::vector<QueuedLine>& lines) = 0;
  // Stores a function that the stream calls when a read() that appended nothing may succeed, or may
  // return false. Unset at the end of run(). A stream whose lines are always available does not
  // need it.
  virtual void on_arrival(const std::function<void()>& /*arrived*/) {}

  // Take the result of a line, its translations or its error. One of them is called once for each
  // line, in any order, unless the queue ends with an exception. `sentences` has one element per
  // part, or one for the whole line. Both may move from `line`.
  virtual void finish(QueuedLine& line, std::vector<Translation> sentences) = 0;
  virtual void fail(QueuedLine& line, std::exception_ptr error) = 0;
  // False if a line that is not in a search yet need not be translated any more: its error is a
  // CancelledSearch then. Called at any time, also within the other functions; must not lock.
  virtual bool is_wanted(const QueuedLine& /*line*/) const { return true; }

  // True if sentences should join running searches at the moment, so that no line waits for those
  // of another caller. Whole batches take less time in total. Called as is_wanted().
  virtual bool should_join() const = 0;
  // Number of sentences of the lines that the next calls of read() will return, if it is known.
  // Called as is_wanted().
  virtual std::size_t waiting_sentences() const { return 0; }

  // Called after each step of a search for each sentence of the lines that want it, with the text
  // of its best hypothesis so far.
  virtual void partial(const QueuedSentence& /*sentence*/, const std::string& /*text*/) {}
  // Called after each batch with the number of finished lines.
  virtual void progress(std::int64_t /*finished*/) {}
};

// One sentence of a line.
struct QueuedSentence {
  const std::string* text = nullptr;
  QueuedLine* line = nullptr;
  std::size_t part = 0;           // index in the line's parts
  QueueWindow* window = nullptr;  // for use by the queue
  SourceLine source = {};         // no tokens: a blank sentence, which is not translated
  std::vector<Glossary::Match> terms = {};
  Translation translation = {};
};
using QueuedSentences = std::vector<QueuedSentence*>;

// Supplies sentences to a search and takes its results. Thread-safe.
class SentenceSupply {
 public:
  virtual ~SentenceSupply() = default;

  // Returns at most `most` sentences, which are not blank. Longest first. Empty if there are none
  // at the moment.
  virtual QueuedSentences take(std::size_t most) = 0;
  // Ends sentences that were taken, with their translations complete.
  virtual void finish(const QueuedSentences& sentences) = 0;
  // Ends sentences that were taken, with an error.
  virtual void fail(const QueuedSentences& sentences, const std::exception_ptr& error) = 0;
  // Reports LineStream::partial().
  virtual void partial(const QueuedSentence& sentence, const std::string& text) = 0;
  // True if it is better to take sentences during the search than after it.
  virtual bool should_join() const = 0;
};

class TranslationQueue : private SentenceSupply {
 public:
  // Stores the tokens in `source`.
  using Encode = std::function<void(QueuedSentence& sentence)>;
  // Translates sentences, and what it takes from `supply` meanwhile. Each of them must be finished
  // or failed at the end. An exception is an error of the queue.
  using Search = std::function<void(QueuedSentences sentences, SentenceSupply& supply)>;

  // Number of lines that fill a window: enough to sort by length, and for all threads.
  static std::size_t window_lines(std::size_t batch_size, std::size_t threads);

  // `encode` and `search` are called from several threads at once. A search gets at most batch_size
  // sentences at first; with more than one thread it may get fewer. The stream must outlive the
  // queue.
  TranslationQueue(LineStream& stream, Encode encode, Search search, std::size_t batch_size,
                   ThreadPool& pool);
  ~TranslationQueue() override;
  TranslationQueue(const TranslationQueue&) = delete;
  TranslationQueue& operator=(const TranslationQueue&) = delete;

  // Returns when all lines have their results. Throws an exception of the stream, of a search or of
  // the queue itself after all threads have stopped.
  void run();

 private:
  using Lock = std::unique_lock<std::mutex>;

  void work();
  bool is_finished() const;
  bool encode_next(Lock& lock);
  bool read_next(Lock& lock, bool few);
  bool search_next(Lock& lock);
  QueueWindow* window_to_encode();
  QueuedSentences next_batch(Lock& lock, std::size_t most);
  std::size_t batch_tokens() const;
  void add_window(std::vector<QueuedLine> lines);
  void sort_by_length(QueueWindow& window);
  void finish(Lock& lock, const QueuedSentences& sentences);
  void deliver(Lock& lock, QueueWindow& window, const std::vector<std::size_t>& lines);
  void report_progress(Lock& lock);
  bool run_unlocked(Lock& lock, const std::function<void()>& job);
  void abort(std::exception_ptr error);
  void arrived();

  QueuedSentences take(std::size_t most) override;
  void finish(const QueuedSentences& sentences) override;
  void fail(const QueuedSentences& sentences, const std::exception_ptr& error) override;
  void partial(const QueuedSentence& sentence, const std::string& text) override {
    stream_.partial(sentence, text);
  }
  bool should_join() const override { return stream_.should_join(); }

  LineStream& stream_;
  Encode encode_;
  Search search_;
  std::size_t batch_size_;
  ThreadPool& pool_;

  std::mutex mutex_;  // guards all members below
  std::condition_variable changed_;
  std::list<QueueWindow> windows_;  // not completely delivered
  std::size_t read_lines_ = 0;
  std::size_t delivered_lines_ = 0;
  std::size_t reported_lines_ = 0;    // by progress()
  std::size_t bytes_in_flight_ = 0;   // of the windows
  std::size_t queued_sentences_ = 0;  // in `order` and not handed out
  std::size_t queued_tokens_ = 0;     // of these sentences
  std::size_t active_threads_ = 0;    // threads outside the lock
  bool reading_ = false;
  bool reporting_ = false;
  bool ended_ = false;  // nothing more is read
  std::uint64_t arrivals_ = 1;
  std::uint64_t arrivals_at_full_read_ = 0;  // value of arrivals_ at the last read that failed
  std::uint64_t arrivals_at_few_read_ = 0;
  std::exception_ptr error_;  // all threads stop at once
};

}  // namespace regard
