// Translates a stream of lines on all threads of a pool, in input order.
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
// smaller, so that all threads end at about the same time. The thread that completes the next line
// of the output writes it.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <limits>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/thread_pool.h"
#include "data/tokenizers.h"
#include "decoding/search.h"

namespace regard {

struct Translation {
  std::string text;                // the best hypothesis
  std::int64_t source_length = 0;  // number of tokens, without </s>
  // With </s>, one per column of the attention weights. Empty unless the weights are requested.
  std::vector<std::string> source_tokens;
  double column_seconds = 0;           // time between two columns, if it is known; 0 for text
  std::vector<Hypothesis> hypotheses;  // best first; empty for an empty line
  std::vector<std::string> oov_words;  // as in SourceLine
};

// A line on its way from input to output.
struct QueuedLine {
  std::string text;
  SentenceOptions options = {};
  std::vector<std::string> parts = {};  // translated one by one; empty: the line is one sentence
  Translation translation = {};
  std::string output = {};  // for use by finish() and write()
};

// The input and output of a TranslationQueue. The queue calls each function from any thread;
// finish() also from several threads at once. read(), write() and progress() do not overlap
// themselves, but each may overlap the others.
class LineStream {
 public:
  virtual ~LineStream() = default;

  // Appends the lines that have arrived to `lines`, in input order. Appends nothing if too few have
  // arrived: with `few`, at least one line is enough, else the lines must fill a window. Returns
  // false at the end of the input. After an exception, the lines appended before it are translated
  // and written, and read() is not called again.
  virtual bool read(bool few, std::vector<QueuedLine>& lines) = 0;

  // Stores a function that the stream calls when a read() that appended nothing may succeed. Unset
  // at the end of run(). A stream whose lines are always available does not need it.
  virtual void on_arrival(std::function<void()> /*arrived*/) {}

  // Stores the translation of a line in line.translation. `sentences` has one element per part, or
  // one for the whole line.
  virtual void finish(QueuedLine& line, std::vector<Translation> sentences) {
    line.translation = std::move(sentences.front());
  }

  // Takes the next lines of the output, in input order.
  virtual void write(std::vector<QueuedLine> lines) = 0;

  // Called after each batch with the number of finished lines.
  virtual void progress(std::int64_t /*finished*/) {}

  // True if the lines before a line with an error are worth translating.
  virtual bool keeps_lines_before_error() const { return true; }
};

// One sentence of a line.
struct QueuedSentence {
  const std::string* text = nullptr;
  const SentenceOptions* options = nullptr;
  std::size_t line = 0;    // in the window
  SourceLine source = {};  // no tokens: a blank sentence, which is not translated
  Translation translation = {};
};

class TranslationQueue {
 public:
  // Stores the tokens in `source`.
  using Encode = std::function<void(QueuedSentence& sentence)>;
  // Completes the translations of a batch of sentences, which are not blank. Longest first.
  using Search = std::function<void(std::span<QueuedSentence* const> batch)>;

  // Number of lines that fill a window: enough to sort by length, and for all threads.
  static std::size_t window_lines(std::size_t batch_size, std::size_t threads);

  // `encode` and `search` are called from several threads at once. A batch has at most batch_size
  // sentences; with more than one thread it may have fewer. The stream must outlive the queue.
  TranslationQueue(LineStream& stream, Encode encode, Search search, std::size_t batch_size,
                   ThreadPool& pool);

  // Returns when all lines are written. Throws the error of the first line that has one, after all
  // threads have stopped. The lines before it are written first if keeps_lines_before_error().
  void run();

 private:
  struct Window {
    std::size_t first_line = 0;  // position in the input
    std::vector<QueuedLine> lines;
    std::vector<QueuedSentence> sentences;
    std::size_t next_to_encode = 0;      // sentences before it are encoded, or a thread does it now
    std::size_t encoded = 0;             // number of sentences
    std::vector<QueuedSentence*> order;  // longest first; empty until all are encoded
    std::size_t next_to_search = 0;      // in `order`
    std::vector<std::size_t> unfinished_sentences;  // by line
    std::vector<char> finished;                     // by line
    std::size_t written = 0;                        // number of lines
  };
  using Lock = std::unique_lock<std::mutex>;

  void work();
  bool is_finished() const;
  bool encode_next(Lock& lock);
  bool read_next(Lock& lock, bool few);
  bool search_next(Lock& lock);
  Window* window_to_encode();
  std::pair<Window*, std::vector<QueuedSentence*>> next_batch();
  std::size_t batch_tokens() const;
  void add_window(Window window);
  void sort_by_length(Window& window);
  void finish(Lock& lock, Window& window, const std::vector<QueuedSentence*>& sentences);
  void write_finished_lines(Lock& lock);
  void report_progress(Lock& lock);
  void fail(std::size_t line, std::exception_ptr error);
  std::exception_ptr run_unlocked(Lock& lock, const std::function<void()>& job);
  void arrived();

  LineStream& stream_;
  Encode encode_;
  Search search_;
  std::size_t batch_size_;
  ThreadPool& pool_;

  std::mutex mutex_;  // guards all members below
  std::condition_variable changed_;
  std::deque<Window> windows_;  // not completely written
  std::size_t read_lines_ = 0;
  std::size_t finished_lines_ = 0;
  std::size_t reported_lines_ = 0;  // by progress()
  std::size_t written_lines_ = 0;
  std::size_t bytes_in_flight_ = 0;  // of lines that are read and not written
  std::size_t queued_tokens_ = 0;    // of sentences in `order` that are not handed out
  std::size_t active_threads_ = 0;   // threads outside the lock
  bool reading_ = false;
  bool writing_ = false;
  bool reporting_ = false;
  bool ended_ = false;  // nothing more is read
  std::uint64_t arrivals_ = 1;
  std::uint64_t arrivals_at_full_read_ = 0;  // value of arrivals_ at the last read that failed
  std::uint64_t arrivals_at_few_read_ = 0;
  // The first line with an error; lines from end_line_ on are neither translated nor written.
  std::size_t error_line_ = std::numeric_limits<std::size_t>::max();
  std::size_t end_line_ = std::numeric_limits<std::size_t>::max();
  std::exception_ptr error_;
  bool aborted_ = false;  // all threads stop at once
};

}  // namespace regard
