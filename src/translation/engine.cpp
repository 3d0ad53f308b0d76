#include "translation/engine.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

namespace regard {
namespace {

// Number of sentences of a request that are taken in its turn.
constexpr std::size_t sentences_per_turn = 8;

}  // namespace

struct RunningRequest : LineGroup {
  // A line, or a part of one.
  struct Sentence {
    std::size_t line;
    std::size_t part;
  };
  struct Result {
    std::vector<Translation> sentences;
    std::size_t unfinished = 0;  // sentences
    std::exception_ptr error;    // of the first sentence that ended with one
    // The same as `error != nullptr`, not guarded by the mutex.
    std::atomic<bool> has_failed = false;
  };

  explicit RunningRequest(TranslationRequest request)
      : lines(std::move(request.lines)),
        finished(std::move(request.finished)),
        progress(std::move(request.progress)),
        results(lines.size()),
        unfinished(lines.size()) {
    for (std::size_t line = 0; line < lines.size(); ++line) {
      const auto parts = std::max<std::size_t>(1, lines[line].parts.size());
      for (std::size_t part = 0; part < parts; ++part) order.push_back({line, part});
      results[line].sentences.resize(parts);
      results[line].unfinished = parts;
    }
    for (auto& line : lines) {
      if (!line.parts.empty()) line.text = std::string();
    }
    std::ranges::stable_sort(order, std::ranges::greater{},
                             [this](const Sentence& sentence) { return text(sentence).size(); });
    is_finished.resize(order.size());
    search = ranked_options(std::move(request.search));
    codec = std::move(request.codec);
    glossary = std::move(request.glossary);
    wants_partial = progress != nullptr;
  }

  std::string& text(const Sentence& sentence) {
    auto& line = lines[sentence.line];
    return line.parts.empty() ? line.text : line.parts[sentence.part];
  }

  // False if the request is cancelled, or another part of the line has failed. `sentence` is an
  // index of `order`. Does not lock.
  bool is_wanted(std::size_t sentence) const {
    return !cancelled && !results[order[sentence].line].has_failed;
  }

  std::uint64_t number = 0;
  // Without the texts that were taken, and without that of a line with parts.
  std::vector<QueuedLine> lines;
  const decltype(TranslationRequest::finished) finished;
  const decltype(TranslationRequest::progress) progress;
  std::vector<Sentence> order;  // longest first, so that batches are alike
  // Guarded by the mutex of the engine:
  std::size_t taken = 0;          // number of sentences, in `order`
  std::vector<bool> is_finished;  // as `order`
  std::vector<Result> results;    // of the lines
  std::size_t unfinished;         // lines
};

// The requests as a stream of sentences, each a line without parts, on a thread of its own.
class Engine::Work : private LineStream {
 public:
  Work(const Translator& translator, std::size_t batch_size, std::size_t threads)
      : most_in_flight_(batch_size * (threads + 1)),
        thread_([this, &translator, batch_size] { run(translator, batch_size); }) {}
  ~Work() override {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
      for (const auto& [number, request] : requests_) request->cancelled = true;
      wake();
    }
    thread_.join();
  }

  std::uint64_t submit(TranslationRequest own) {
    const auto request = std::make_shared<RunningRequest>(std::move(own));
    const auto [number, has_ended] = add(request);
    if (has_ended) end_all();
    return number;
  }
  void cancel(std::uint64_t number) {
    const std::lock_guard lock(mutex_);
    const auto found = requests_.find(number);
    if (found == requests_.end()) return;
    found->second->cancelled = true;
    wake();
  }
  Statistics statistics() const {
    const std::lock_guard lock(mutex_);
    return statistics_;
  }

 private:
  static RunningRequest& request_of(const QueuedLine& line) {
    return static_cast<RunningRequest&>(*line.group);
  }

  // The mutex is locked.
  void wake() {
    if (arrived_) arrived_();
  }
  void on_arrival(const std::function<void()>& arrived) override {
    const std::lock_guard lock(mutex_);
    arrived_ = arrived;
  }
  bool is_wanted(const QueuedLine& line) const override {
    return request_of(line).is_wanted(line.index);
  }
  bool should_join() const override { return unfinished_requests_ > 1; }
  std::size_t waiting_sentences() const override { return waiting_sentences_; }

  bool read(bool few, std::vector<QueuedLine>& lines) override;
  void finish(QueuedLine& line, std::vector<Translation> sentences) override {
    end(request_of(line), line.index, std::move(sentences.front()), nullptr);
  }
  void fail(QueuedLine& line, std::exception_ptr error) override {
    end(request_of(line), line.index, {}, std::move(error));
  }
  void partial(const QueuedSentence& sentence, const std::string& text) override {
    const auto& request = request_of(*sentence.line);
    const auto& [line, part] = request.order[sentence.line->index];
    request.progress(line, part, text);
  }
  // `sentence` is an index of `order`.
  void end(RunningRequest& request, std::size_t sentence, Translation translation,
           std::exception_ptr error);
  // Returns the number of the request, and whether the queue has ended with an error.
  std::pair<std::uint64_t, bool> add(const std::shared_ptr<RunningRequest>& request);
  void run(const Translator& translator, std::size_t batch_size);
  void end_all();

  mutable std::mutex mutex_;  // guards all members below but the thread
  std::function<void()> arrived_;
  std::map<std::uint64_t, std::shared_ptr<RunningRequest>> requests_;  // not finished, by number
  std::deque<std::shared_ptr<RunningRequest>>
      waiting_;  // with sentences that are not taken; next turn first
  std::atomic<std::size_t> unfinished_requests_ = 0;  // size of requests_
  std::atomic<std::size_t> waiting_sentences_ = 0;    // of these requests, that are not taken
  std::uint64_t last_number_ = 0;
  std::size_t in_flight_ = 0;  // sentences that are taken and not finished
  // Enough to fill the batches. More would let later requests wait.
  const std::size_t most_in_flight_;
  bool ending_ = false;
  std::exception_ptr error_;  // of the queue, which has ended
  Statistics statistics_;
  std::thread thread_;
};

std::pair<std::uint64_t, bool> Engine::Work::add(const std::shared_ptr<RunningRequest>& request) {
  const std::lock_guard lock(mutex_);
  request->number = ++last_number_;
  if (request->unfinished == 0) return {request->number, false};
  statistics_.unfinished_sentences += request->order.size();
  requests_.emplace(request->number, request);
  unfinished_requests_ = requests_.size();
  waiting_sentences_ += request->order.size();
  waiting_.push_back(request);
  wake();
  return {request->number, error_ != nullptr};
}

bool Engine::Work::read(bool few, std::vector<QueuedLine>& lines) {
  std::unique_lock lock(mutex_);
  while (few && !waiting_.empty() && in_flight_ < most_in_flight_) {
    const auto request = std::move(waiting_.front());
    waiting_.pop_front();
    const auto first = request->taken;
    const auto left = request->order.size() - first;
    const auto room = most_in_flight_ - in_flight_;
    request->taken += request->cancelled ? left : std::min({sentences_per_turn, room, left});
    in_flight_ += request->taken - first;
    waiting_sentences_ -= request->taken - first;
    if (request->taken < request->order.size()) waiting_.push_back(request);
    const auto taken = request->taken;
    std::vector<std::size_t> unwanted;
    for (auto i = first; i < taken; ++i) {
      if (!request->is_wanted(i)) {
        unwanted.push_back(i);
        continue;
      }
      const auto& sentence = request->order[i];
      lines.push_back({.text = std::move(request->text(sentence)),
                       .options = request->lines[sentence.line].options,
                       .group = request,
                       .index = i});
    }
    if (unwanted.empty()) continue;
    lock.unlock();
    for (const auto i : unwanted) {
      end(*request, i, {}, std::make_exception_ptr(CancelledSearch()));
    }
    lock.lock();
  }
  return !ending_ || !waiting_.empty();
}

void Engine::Work::end(RunningRequest& request, std::size_t sentence, Translation translation,
                       std::exception_ptr error) {
  const auto [line, part] = request.order[sentence];
  auto& result = request.results[line];
  std::shared_ptr<RunningRequest> last;
  {
    const std::lock_guard lock(mutex_);
    --in_flight_;
    --statistics_.unfinished_sentences;
    request.is_finished[sentence] = true;
    result.sentences[part] = std::move(translation);
    if (!result.error) result.error = std::move(error);
    result.has_failed = result.error != nullptr;
    if (!waiting_.empty()) wake();  // there is room
    if (--result.unfinished > 0) return;
    if (result.error) result.sentences.clear();
    ++(result.error ? statistics_.failed_lines : statistics_.finished_lines);
    for (const auto& each : result.sentences) {
      statistics_.source_tokens += static_cast<std::uint64_t>(each.source_length);
      if (each.hypotheses.empty()) continue;
      statistics_.target_tokens += each.hypotheses[0].tokens.size();
    }
    if (--request.unfinished == 0) {
      last = std::move(requests_.at(request.number));
      requests_.erase(request.number);
      unfinished_requests_ = requests_.size();
    }
  }
  request.finished(line, std::move(result.sentences), std::move(result.error));
}

void Engine::Work::run(const Translator& translator, std::size_t batch_size) {
  try {
    translator.translate(*this, {}, static_cast<std::int64_t>(batch_size));
  } catch (...) {  // of the queue itself: not enough memory
    {
      const std::lock_guard lock(mutex_);
      error_ = std::current_exception();
    }
    end_all();
  }
}

// Ends all sentences with the error of the queue.
void Engine::Work::end_all() {
  std::vector<std::pair<std::shared_ptr<RunningRequest>, std::size_t>> sentences;
  {
    const std::lock_guard lock(mutex_);
    waiting_.clear();
    for (const auto& [number, request] : requests_) {
      in_flight_ += request->order.size() - request->taken;
      waiting_sentences_ -= request->order.size() - request->taken;
      request->taken = request->order.size();
      for (std::size_t i = 0; i < request->is_finished.size(); ++i) {
        if (request->is_finished[i]) continue;
        sentences.emplace_back(request, i);
        request->is_finished[i] = true;  // another thread may call end_all() too
      }
    }
  }
  for (const auto& [request, sentence] : sentences) end(*request, sentence, {}, error_);
}

Engine::Engine(const Translator& translator, std::int64_t batch_size)
    : work_(std::make_unique<Work>(translator, static_cast<std::size_t>(batch_size),
                                   translator.threads())) {}
Engine::~Engine() = default;
std::uint64_t Engine::submit(TranslationRequest request) {
  return work_->submit(std::move(request));
}
void Engine::cancel(std::uint64_t request) {
  work_->cancel(request);
}
Engine::Statistics Engine::statistics() const {
  return work_->statistics();
}

}  // namespace regard
