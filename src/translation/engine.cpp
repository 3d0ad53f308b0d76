#include "translation/engine.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <numeric>
#include <thread>
#include <utility>

namespace regard {
namespace {

// Number of lines of a request that are taken in its turn.
constexpr std::size_t lines_per_turn = 8;

}  // namespace

struct RunningRequest : LineGroup {
  explicit RunningRequest(TranslationRequest request)
      : lines(std::move(request.lines)),
        finished(std::move(request.finished)),
        progress(std::move(request.progress)),
        order(lines.size()),
        is_finished(lines.size(), false),
        unfinished(lines.size()) {
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::ranges::greater{},
                             [this](std::size_t i) { return lines[i].text.size(); });
    search = ranked_options(std::move(request.search));
    codec = std::move(request.codec);
    glossary = std::move(request.glossary);
    wants_partial = progress != nullptr;
  }

  std::uint64_t number = 0;
  std::vector<QueuedLine> lines;  // empty after they were taken
  const decltype(TranslationRequest::finished) finished;
  const decltype(TranslationRequest::progress) progress;
  std::vector<std::size_t> order;  // of the lines: longest first, so that batches are alike
  // Guarded by the mutex of the engine:
  std::size_t taken = 0;  // number of lines, in `order`
  std::vector<bool> is_finished;
  std::size_t unfinished;
};

// The requests as a stream of lines, on a thread of its own.
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
  bool is_wanted(const QueuedLine& line) const override { return !line.group->cancelled; }
  bool should_join() const override { return unfinished_requests_ > 1; }
  std::size_t waiting_lines() const override { return waiting_lines_; }

  bool read(bool few, std::vector<QueuedLine>& lines) override;
  void finish(QueuedLine& line, std::vector<Translation> sentences) override {
    end(request_of(line), line.index, std::move(sentences), nullptr);
  }
  void fail(QueuedLine& line, std::exception_ptr error) override {
    end(request_of(line), line.index, {}, std::move(error));
  }
  void partial(const QueuedSentence& sentence, const std::string& text) override {
    const auto& line = *sentence.line;
    request_of(line).progress(line.index, sentence.part, text);
  }
  void end(RunningRequest& request, std::size_t line, std::vector<Translation> sentences,
           std::exception_ptr error);
  // Returns the number of the request, and whether the queue has ended with an error.
  std::pair<std::uint64_t, bool> add(const std::shared_ptr<RunningRequest>& request);
  void run(const Translator& translator, std::size_t batch_size);
  void end_all();

  mutable std::mutex mutex_;  // guards all members below but the thread
  std::function<void()> arrived_;
  std::map<std::uint64_t, std::shared_ptr<RunningRequest>> requests_;  // not finished, by number
  std::deque<std::shared_ptr<RunningRequest>>
      waiting_;  // with lines that are not taken; next turn first
  std::atomic<std::size_t> unfinished_requests_ = 0;  // size of requests_
  std::atomic<std::size_t> waiting_lines_ = 0;        // of these requests, that are not taken
  std::uint64_t last_number_ = 0;
  std::size_t in_flight_ = 0;  // lines that are taken and not finished
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
  statistics_.unfinished_lines += request->unfinished;
  requests_.emplace(request->number, request);
  unfinished_requests_ = requests_.size();
  waiting_lines_ += request->unfinished;
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
    const auto left = request->lines.size() - first;
    const auto room = most_in_flight_ - in_flight_;
    request->taken += request->cancelled ? left : std::min({lines_per_turn, room, left});
    in_flight_ += request->taken - first;
    waiting_lines_ -= request->taken - first;
    if (request->taken < request->lines.size()) waiting_.push_back(request);
    if (request->cancelled) {
      lock.unlock();
      for (auto i = first; i < request->taken; ++i) {
        end(*request, request->order[i], {}, std::make_exception_ptr(CancelledSearch()));
      }
      lock.lock();
      continue;
    }
    for (auto i = first; i < request->taken; ++i) {
      const auto index = request->order[i];
      auto& line = lines.emplace_back(std::move(request->lines[index]));
      line.group = request;
      line.index = index;
    }
  }
  return !ending_ || !waiting_.empty();
}

void Engine::Work::end(RunningRequest& request, std::size_t line,
                       std::vector<Translation> sentences, std::exception_ptr error) {
  std::shared_ptr<RunningRequest> last;
  {
    const std::lock_guard lock(mutex_);
    --in_flight_;
    --statistics_.unfinished_lines;
    ++(error ? statistics_.failed_lines : statistics_.finished_lines);
    for (const auto& sentence : sentences) {
      statistics_.source_tokens += static_cast<std::uint64_t>(sentence.source_length);
      if (sentence.hypotheses.empty()) continue;
      statistics_.target_tokens += sentence.hypotheses[0].tokens.size();
    }
    request.is_finished[line] = true;
    if (--request.unfinished == 0) {
      last = std::move(requests_.at(request.number));
      requests_.erase(request.number);
      unfinished_requests_ = requests_.size();
    }
    if (!waiting_.empty()) wake();  // there is room
  }
  request.finished(line, std::move(sentences), std::move(error));
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

// Ends all lines with the error of the queue.
void Engine::Work::end_all() {
  std::vector<std::pair<std::shared_ptr<RunningRequest>, std::size_t>> lines;
  {
    const std::lock_guard lock(mutex_);
    waiting_.clear();
    for (const auto& [number, request] : requests_) {
      in_flight_ += request->lines.size() - request->taken;
      waiting_lines_ -= request->lines.size() - request->taken;
      request->taken = request->lines.size();
      for (std::size_t i = 0; i < request->is_finished.size(); ++i) {
        if (request->is_finished[i]) continue;
        lines.emplace_back(request, i);
        request->is_finished[i] = true;  // another thread may call end_all() too
      }
    }
  }
  for (const auto& [request, line] : lines) end(*request, line, {}, error_);
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
