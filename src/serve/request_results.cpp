#include "serve/request_results.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace regard {

std::string event_text(const std::string& event, const Json& data) {
  return fmt::format("event: {}\ndata: {}\n\n", event, to_text(data));
}

RequestResults::RequestResults(const TranslateRequest& request, ServerMemory::Lease& memory,
                               std::function<void()> wake)
    : is_stream_(request.stream != TranslateRequest::Stream::none),
      results_(is_stream_ ? 0 : request.lines.size()),
      unfinished_(request.lines.size()),
      memory_(&memory),
      wake_(std::move(wake)) {}

void RequestResults::reserve(std::size_t bytes) {
  memory_->add(bytes);
  reserved_ = bytes;
}

void RequestResults::finish(std::size_t line, Json translation) {
  std::optional<Json> error;
  if (translation.contains("error")) error = translation["error"];
  if (is_stream_) {
    Json data = {{"line", line}};
    data.update(translation);
    translation = std::move(data);
  }
  auto text = is_stream_ ? event_text("translation", translation) : to_text(translation);
  const std::lock_guard lock(mutex_);
  if (memory_ != nullptr) {
    add(text.size());
    if (is_stream_) {
      events_.push_back(std::move(text));
      partial_.erase(line);
    } else {
      results_[line] = std::move(text);
    }
    if (!first_error_) first_error_ = std::move(error);
  }
  --unfinished_;  // last: the line is finished again, with an error, if something above throws
  if (memory_ != nullptr && (unfinished_ == 0 || is_stream_ || failure_)) wake_();
}

void RequestResults::set_partial(std::size_t line, std::string text) {
  const std::lock_guard lock(mutex_);
  if (memory_ == nullptr) return;
  partial_[line] = std::move(text);
  wake_();
}

void RequestResults::close() {
  const std::lock_guard lock(mutex_);
  memory_ = nullptr;
  wake_ = nullptr;  // it belongs to the server, which may end before the model's threads
}

std::vector<std::string> RequestResults::take_events() {
  const std::lock_guard lock(mutex_);
  if (failure_) throw HttpError(*failure_);
  std::vector<std::string> events;
  for (const auto& [line, text] : partial_) {
    events.push_back(event_text("partial", {{"line", line}, {"text", text}}));
  }
  partial_.clear();
  std::ranges::move(events_, std::back_inserter(events));
  events_.clear();
  return events;
}

bool RequestResults::is_finished() const {
  const std::lock_guard lock(mutex_);
  if (failure_) throw HttpError(*failure_);
  return unfinished_ == 0 && events_.empty();
}

std::string RequestResults::take_results() {
  std::string text;
  text.reserve(bytes_ + results_.size());
  for (auto& result : results_) {
    if (&result != results_.data()) text += ',';
    text += std::exchange(result, {});
  }
  return text;
}

// Counts bytes of the answer: those beyond the estimate need more memory.
void RequestResults::add(std::size_t bytes) {
  bytes_ += bytes;
  if (bytes_ <= reserved_ || failure_) return;
  try {
    memory_->add(bytes_ - reserved_);
    reserved_ = bytes_;
  } catch (const HttpError& error) {
    failure_ = error;
  }
}

SubmittedRequest::~SubmittedRequest() {
  results_->close();
  if (number_ && !has_ended) service_.cancel(*number_);
}

void SubmittedRequest::submit(const TranslateRequest& request,
                              const std::function<void(std::size_t sentences)>& admit) {
  TranslationService::Listener listener{
      .reserve =
          [this, &admit](std::size_t sentences, std::size_t bytes) {
            admit(sentences);
            results_->reserve(bytes);
          },
      .finished = [results = results_](
                      std::size_t line,
                      Json translation) { results->finish(line, std::move(translation)); },
      .partial = {}};
  if (request.stream == TranslateRequest::Stream::tokens) {
    listener.partial = [results = results_](std::size_t line, std::string text) {
      results->set_partial(line, std::move(text));
    };
  }
  number_ = service_.submit(request, std::move(listener));
}

}  // namespace regard
