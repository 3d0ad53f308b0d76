#include "translation/translation_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "translation/ordered_lines.h"

namespace regard::translation_queue_test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::Le;

// Lines of 0 to 9 words in no order; every ninth is blank.
std::vector<std::string> some_lines(std::size_t count) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < count; ++i) {
    lines.emplace_back(i % 9 == 4 ? 0 : 1 + i * 7 % 10, static_cast<char>('a' + i % 26));
  }
  return lines;
}

std::vector<std::string> upper(std::vector<std::string> lines) {
  for (auto& line : lines) {
    for (auto& c : line) c = static_cast<char>(c - 'a' + 'A');
  }
  return lines;
}

// Delivers lines like a file, a window at a time.
class FileStream : public OrderedLines {
 public:
  FileStream(std::vector<std::string> lines, std::size_t window)
      : lines_(std::move(lines)), window_(window) {}

  bool read(bool /*few*/, std::vector<QueuedLine>& lines) override {
    EXPECT_FALSE(reading_.exchange(true)) << "two threads read";
    for (std::size_t i = 0; i < window_ && read_ < lines_.size(); ++i, ++read_) {
      if (read_ == read_error) throw InputError("read {}", read_);
      lines.push_back(
          {.text = lines_[read_], .options = {.number = static_cast<std::int64_t>(read_) + 1}});
    }
    most_in_flight = std::max(most_in_flight, read_ - written_lines_);
    reading_ = false;
    return read_ < lines_.size();
  }
  void write(std::vector<QueuedLine> lines) override {
    EXPECT_FALSE(writing_.exchange(true)) << "two threads write";
    for (const auto& line : lines) {
      if (written.size() == write_error) throw EnvironmentError("write {}", written.size());
      EXPECT_EQ(line.options.number, written.size() + 1);
      written.push_back(line.translation.text);
      ++written_lines_;
    }
    writing_ = false;
  }
  void progress(std::int64_t finished) override { finished_lines.push_back(finished); }
  bool keeps_lines_before_error() const override { return keeps; }

  std::size_t read_error = SIZE_MAX;
  std::size_t write_error = SIZE_MAX;
  bool keeps = true;
  std::vector<std::string> written;
  std::vector<std::int64_t> finished_lines;
  std::size_t most_in_flight = 0;

 private:
  std::vector<std::string> lines_;
  std::size_t window_;
  std::size_t read_ = 0;
  std::atomic<std::size_t> written_lines_ = 0;
  std::atomic<bool> reading_ = false;
  std::atomic<bool> writing_ = false;
};

// One token per character. Throws for lines with a `?`.
void encode(QueuedSentence& sentence) {
  if (sentence.text->find('?') != std::string::npos) {
    throw InputError("encode {}", sentence.line->options.number - 1);
  }
  sentence.source.tokens.assign(sentence.text->begin(), sentence.text->end());
}

// Translates to upper case.
void translate(const QueuedSentences& batch) {
  for (auto* sentence : batch) sentence->translation.text = upper({*sentence->text})[0];
}

TEST(QueuedLine, CountsTheBytesOfItsParts) {
  QueuedLine line{.text = "ab"};
  const auto whole = line.bytes();
  line.parts = {std::string(1000, 'a'), std::string(500, 'b')};
  EXPECT_GE(line.bytes(), whole + 1500);
}

class TranslationQueueOnThreads : public testing::TestWithParam<std::size_t> {
 protected:
  using Translate = std::function<void(const QueuedSentences&)>;

  // Translates each batch at once. Returns the error.
  std::string run(OrderedLines& lines, std::size_t batch_size,
                  const Translate& translate_batch = translate) {
    const auto search = [&](const QueuedSentences& sentences, SentenceSupply& supply) {
      try {
        translate_batch(sentences);
      } catch (...) {
        return supply.fail(sentences, std::current_exception());
      }
      supply.finish(sentences);
    };
    return run_search(lines, batch_size, search);
  }
  std::string run_search(OrderedLines& lines, std::size_t batch_size,
                         const TranslationQueue::Search& search) {
    try {
      translate_in_order(lines, 2 * window(batch_size), [&](LineStream& stream) {
        TranslationQueue(stream, encode, search, batch_size, pool_).run();
      });
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  std::size_t window(std::size_t batch_size) const {
    return TranslationQueue::window_lines(batch_size, pool_.count());
  }

  ThreadPool pool_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Threads, TranslationQueueOnThreads, testing::Values(1, 2, 7),
                         testing::PrintToStringParamName());

TEST_P(TranslationQueueOnThreads, WritesEachLineInOrder) {
  for (const std::size_t batch_size : {1, 3, 64}) {
    for (const std::size_t count : {0, 1, 500}) {
      const auto lines = some_lines(count);
      FileStream stream(lines, window(batch_size));
      std::atomic<std::size_t> sentences = 0;
      EXPECT_EQ(run(stream, batch_size,
                    [&](const QueuedSentences& batch) {
                      EXPECT_LE(batch.size(), batch_size);
                      sentences += batch.size();
                      translate(batch);
                    }),
                "");
      EXPECT_EQ(stream.written, upper(lines));
      EXPECT_EQ(sentences, count - static_cast<std::size_t>(std::ranges::count(lines, "")));
      EXPECT_TRUE(std::ranges::is_sorted(stream.finished_lines));
      if (count > 0) {
        EXPECT_EQ(stream.finished_lines.back(), count);
      }
    }
  }
}

TEST_P(TranslationQueueOnThreads, TranslatesTheLongestSentencesOfAWindowFirst) {
  FileStream stream(some_lines(50), 50);
  std::mutex mutex;
  std::vector<std::size_t> lengths;  // of the first sentence of each batch
  run(stream, 4, [&](const QueuedSentences& batch) {
    EXPECT_TRUE(std::ranges::is_sorted(batch, std::ranges::greater{},
                                       [](auto* sentence) { return sentence->text->size(); }));
    const std::lock_guard lock(mutex);
    lengths.push_back(batch[0]->text->size());
    translate(batch);
  });
  EXPECT_EQ(lengths.front(), 10);
  if (GetParam() == 1) {
    EXPECT_TRUE(std::ranges::is_sorted(lengths, std::ranges::greater{}));
  }
}

TEST_P(TranslationQueueOnThreads, LastBatchesAreSmallOnSeveralThreads) {
  FileStream stream(std::vector<std::string>(100, "abc"), 100);
  std::mutex mutex;
  std::vector<std::size_t> sizes;
  run(stream, 40, [&](const QueuedSentences& batch) {
    const std::lock_guard lock(mutex);
    sizes.push_back(batch.size());
    translate(batch);
  });
  if (GetParam() == 1) {
    EXPECT_THAT(sizes, ElementsAre(40, 40, 20));
  } else {
    std::ranges::sort(sizes);
    EXPECT_THAT(sizes, Each(Le(100 / (2 * GetParam()))));
    EXPECT_EQ(sizes.front(), 1);
  }
}

// The first line is searched until all lines that may be in flight are done.
TEST_P(TranslationQueueOnThreads, ASlowFirstLineDoesNotStopTheOthers) {
  if (GetParam() == 1) return;
  auto lines = some_lines(300);
  lines[0] = std::string(20, 'a');
  FileStream stream(lines, window(1));
  std::atomic<std::size_t> others = 0;
  const auto translated_before_first = 2 * window(1) - 1 - 2 * window(1) / 9 - 2;
  const auto error = run(stream, 1, [&](const QueuedSentences& batch) {
    translate(batch);
    if (batch[0]->line->options.number != 1) {
      ++others;
      return;
    }
    for (int i = 0; others < translated_before_first; ++i) {
      if (i == 10000) throw InputError("only {} were translated", others.load());
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_TRUE(stream.written.empty());
  });
  EXPECT_EQ(error, "");
  EXPECT_EQ(stream.written, upper(lines));
  EXPECT_LE(stream.most_in_flight, 3 * window(1));
}

TEST_P(TranslationQueueOnThreads, WritesAllLinesBeforeTheFirstError) {
  auto lines = some_lines(300);
  lines[250] = "?";
  lines[130] = "?";
  lines[131] = "?";
  const auto expected = upper({lines.begin(), lines.begin() + 130});
  FileStream stream(lines, window(1));
  EXPECT_EQ(run(stream, 1), "encode 130");
  EXPECT_EQ(stream.written, expected);

  FileStream all_or_nothing(lines, lines.size());
  all_or_nothing.keeps = false;
  std::atomic<int> batches = 0;
  EXPECT_EQ(run(all_or_nothing, 1, [&](auto) { ++batches; }), "encode 130");
  EXPECT_EQ(batches, 0);
  EXPECT_TRUE(all_or_nothing.written.empty());
}

TEST_P(TranslationQueueOnThreads, AnErrorOfTheInputFollowsTheLinesBeforeIt) {
  const auto lines = some_lines(300);
  FileStream stream(lines, window(1));
  stream.read_error = 77;
  EXPECT_EQ(run(stream, 1), "read 77");
  EXPECT_EQ(stream.written, upper({lines.begin(), lines.begin() + 77}));
}

TEST_P(TranslationQueueOnThreads, AnErrorOfASearchOrAnOutputEndsTheQueue) {
  const auto lines = some_lines(300);
  FileStream stream(lines, window(1));
  EXPECT_EQ(run(stream, 1,
                [](const QueuedSentences& batch) {
                  if (batch[0]->line->options.number == 91) throw EnvironmentError("search 90");
                  translate(batch);
                }),
            "search 90");
  EXPECT_EQ(stream.written, upper({lines.begin(), lines.begin() + 90}));

  FileStream full(lines, window(1));
  full.write_error = 45;
  EXPECT_EQ(run(full, 1), "write 45");
  EXPECT_EQ(full.written, upper({lines.begin(), lines.begin() + 45}));
}

TEST_P(TranslationQueueOnThreads, ASearchTakesMoreSentencesWhileItRuns) {
  const auto lines = some_lines(500);
  FileStream stream(lines, window(4));
  std::atomic<std::size_t> searches = 0;
  std::atomic<std::size_t> most = 0;
  EXPECT_EQ(run_search(stream, 4,
                       [&](QueuedSentences running, SentenceSupply& supply) {
                         ++searches;
                         while (!running.empty()) {  // finishes one sentence per step
                           most = std::max(most.load(), running.size());
                           const QueuedSentences first = {running.front()};
                           translate(first);
                           supply.finish(first);
                           running.erase(running.begin());
                           for (auto* sentence : supply.take(1)) running.push_back(sentence);
                         }
                       }),
            "");
  EXPECT_EQ(stream.written, upper(lines));
  EXPECT_LE(most, 4);
  EXPECT_LE(searches, 20 * GetParam());  // not one per batch, which are at least 110
}

// Lines whose results are kept in any order.
class IndependentStream : public LineStream {
 public:
  explicit IndependentStream(std::vector<std::string> lines) : lines_(std::move(lines)) {}

  bool read(bool /*few*/, std::vector<QueuedLine>& lines) override {
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      lines.push_back({.text = lines_[i], .options = {.number = static_cast<std::int64_t>(i) + 1}});
    }
    return false;
  }
  bool should_join() const override { return true; }
  bool is_wanted(const QueuedLine& line) const override { return line.options.number != unwanted; }
  void finish(QueuedLine& line, std::vector<Translation> parts) override {
    add(line, parts.front().text);
  }
  void fail(QueuedLine& line, std::exception_ptr error) override {
    try {
      std::rethrow_exception(error);
    } catch (const Error& caught) {
      add(line, caught.what());
    } catch (const CancelledSearch& caught) {
      add(line, caught.what());
    }
  }

  std::int64_t unwanted = 0;
  std::vector<std::string> results = std::vector<std::string>(300);

 private:
  void add(const QueuedLine& line, const std::string& result) {
    const std::lock_guard lock(mutex_);
    auto& known = results[static_cast<std::size_t>(line.options.number) - 1];
    EXPECT_EQ(known, "") << "line " << line.options.number << " ends twice";
    known = result.empty() ? "blank" : result;
  }

  std::vector<std::string> lines_;
  std::mutex mutex_;
};

TEST_P(TranslationQueueOnThreads, AnErrorOfALineLeavesTheOthersAlone) {
  auto lines = some_lines(300);
  lines[130] = "?";
  auto expected = upper(lines);
  for (auto& line : expected) line = line.empty() ? "blank" : line;
  expected[130] = "encode 130";
  expected[91] = "search 91";
  expected[17] = CancelledSearch().what();
  IndependentStream stream(lines);
  stream.unwanted = 18;
  const auto search = [&](const QueuedSentences& sentences, SentenceSupply& supply) {
    for (auto* sentence : sentences) {
      if (sentence->line->options.number == 92) {
        supply.fail({sentence}, std::make_exception_ptr(EnvironmentError("search 91")));
        continue;
      }
      translate({sentence});
      supply.finish({sentence});
    }
  };
  TranslationQueue(stream, encode, search, 8, pool_).run();
  EXPECT_EQ(stream.results, expected);
}

TEST_P(TranslationQueueOnThreads, AnExceptionOfASearchEndsTheQueue) {
  IndependentStream stream(some_lines(300));
  const auto search = [](const QueuedSentences&, SentenceSupply&) { throw std::bad_alloc(); };
  TranslationQueue queue(stream, encode, search, 8, pool_);
  EXPECT_THROW(queue.run(), std::bad_alloc);
}

// A stream of split lines.
class PartStream : public FileStream {
 public:
  using FileStream::FileStream;
  bool read(bool few, std::vector<QueuedLine>& lines) override {
    const bool more = FileStream::read(few, lines);
    for (auto& line : lines) line.parts = {line.text, "", line.text + line.text};
    return more;
  }
  void finish(QueuedLine& line, std::vector<Translation> parts) override {
    for (const auto& part : parts) line.translation.text += part.text + "|";
  }
};

TEST_P(TranslationQueueOnThreads, FinishesALineWithAllItsPartsInOrder) {
  const auto lines = some_lines(200);
  PartStream stream(lines, window(1));
  EXPECT_EQ(run(stream, 1), "");
  auto expected = upper(lines);
  for (auto& line : expected) line = line + "||" + line + line + "|";
  EXPECT_EQ(stream.written, expected);
}

// Delivers a line after the previous one was written, like a user at a terminal.
class InteractiveStream : public OrderedLines {
 public:
  explicit InteractiveStream(std::size_t count) : count_(count) {}

  bool read(bool few, std::vector<QueuedLine>& lines) override {
    const std::lock_guard lock(mutex_);
    if (few && arrived_ > read_) {
      lines.push_back({.text = "a", .options = {.number = static_cast<std::int64_t>(++read_)}});
    }
    return read_ < count_;
  }
  void on_arrival(const std::function<void()>& arrived) override {
    const std::lock_guard lock(mutex_);
    notify_ = arrived;
    changed_.notify_all();
  }
  void write(std::vector<QueuedLine> lines) override {
    const std::lock_guard lock(mutex_);
    written_ += lines.size();
    changed_.notify_all();
  }

  // Types one line after the other. Returns the number of answers within ten seconds each.
  std::size_t type() {
    for (std::size_t i = 0; i < count_; ++i) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return notify_ != nullptr; });
      ++arrived_;
      notify_();
      if (!changed_.wait_for(lock, std::chrono::seconds(10), [&] { return written_ > i; })) break;
    }
    const std::lock_guard lock(mutex_);
    const auto answers = written_;
    arrived_ = count_;  // ends the stream if lines were lost
    if (notify_) notify_();
    return answers;
  }

 private:
  std::size_t count_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> notify_;
  std::size_t arrived_ = 0;
  std::size_t read_ = 0;
  std::size_t written_ = 0;
};

TEST_P(TranslationQueueOnThreads, AnswersEachLineOfAStreamBeforeTheNextArrives) {
  InteractiveStream stream(50);
  std::size_t answers = 0;
  std::thread user([&] { answers = stream.type(); });
  EXPECT_EQ(run(stream, 8), "");
  user.join();
  EXPECT_EQ(answers, 50);
}

}  // namespace
}  // namespace regard::translation_queue_test
