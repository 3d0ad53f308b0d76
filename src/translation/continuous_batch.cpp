#include "translation/continuous_batch.h"

#include <algorithm>
#include <utility>

#include "data/batch.h"

namespace regard {
namespace {

// Returns after how many steps sentences may join a batch of this size. Several that join together
// are encoded together, which costs less; in a small batch, a step takes less time than that saves.
std::size_t steps_between_joins(std::size_t size) {
  return std::clamp<std::size_t>(size / 4, 1, 12);
}

// True if sentences of these lengths may share a search.
bool are_similar(std::size_t a, std::size_t b) {
  return std::max(a, b) <= 4 * std::min(a, b) + 32;
}

bool is_cancelled(const QueuedSentence& sentence) {
  return sentence.line->group && sentence.line->group->cancelled;
}

}  // namespace

ContinuousBatch::ContinuousBatch(Seq2Seq& model, torch::Device device,
                                 kernels::PackedWeights& packed, SearchGraphs* graphs,
                                 const Steps& steps, std::size_t batch_size, SentenceSupply& supply)
    : model_(model),
      device_(device),
      packed_(packed),
      graphs_(graphs),
      steps_(steps),
      batch_size_(batch_size),
      supply_(supply) {}

std::size_t ContinuousBatch::size() const {
  std::size_t size = 0;
  for (const auto& lane : lanes_) size += lane.sentences.size();
  return size;
}

// True if sentences may join. Those of one caller are sorted by length, and end at about the same
// time: they are faster in whole batches. Those with shortlists cannot join a search.
bool ContinuousBatch::is_open() const {
  return supply_.should_join() && std::ranges::none_of(lanes_, &Lane::is_closed) &&
         size() < batch_size_;
}

void ContinuousBatch::run(QueuedSentences sentences) {
  add(sentences);
  for (std::size_t steps = 1; !lanes_.empty(); ++steps) {
    for (auto& lane : lanes_) step(lane);
    lanes_.remove_if([](const auto& lane) { return lane.sentences.empty(); });
    if (!lanes_.empty() && steps >= steps_between_joins(size()) && is_open()) {
      add(supply_.take(batch_size_ - size()));
      steps = 0;
    }
  }
}

// Adds sentences to the lanes where they fit.
void ContinuousBatch::add(const QueuedSentences& sentences) {
  using Joining = std::pair<Lane*, QueuedSentences>;
  std::vector<Joining> joining;
  for (auto* sentence : sentences) {
    auto* lane = &lane_for(*sentence);
    lane->longest = std::max(lane->longest, sentence->source.length());
    auto entry = std::ranges::find(joining, lane, &Joining::first);
    if (entry == joining.end()) entry = joining.insert(entry, {lane, {}});
    entry->second.push_back(sentence);
  }
  for (const auto& [lane, group] : joining) {
    try {
      join(*lane, group);
    } catch (...) {
      fail(group);
    }
  }
}

ContinuousBatch::Lane& ContinuousBatch::lane_for(const QueuedSentence& sentence) {
  const auto& options = steps_.search_request(sentence);
  const auto found = std::ranges::find_if(lanes_, [&](const auto& lane) {
    return !lane.is_closed && are_similar(lane.longest, sentence.source.length()) &&
           have_same_results(lane.options, options);
  });
  return found == lanes_.end() ? new_lane(sentence) : *found;
}

ContinuousBatch::Lane& ContinuousBatch::new_lane(const QueuedSentence& sentence) {
  return lanes_.emplace_back(model_, steps_.search_request(sentence), packed_, graphs_,
                             sentence.source.length());
}

void ContinuousBatch::join(Lane& lane, const QueuedSentences& sentences) {
  std::vector<SentenceOptions> options;
  std::vector<std::size_t> ids;
  for (const auto* sentence : sentences) {
    options.push_back(steps_.sentence_options(*sentence));
    ids.push_back(next_id_++);
  }
  lane.is_closed = lane.is_closed || !options[0].shortlist.empty();
  std::vector<SourceLine> sources;  // copies, because the sentences may be translated again
  for (const auto* sentence : sentences) sources.push_back(sentence->source);
  const auto batch = make_source_batch(sources).to(device_);
  lane.search.add(batch.source, std::move(options), ids);
  for (std::size_t i = 0; i < ids.size(); ++i) lane.sentences[ids[i]] = sentences[i];
}

void ContinuousBatch::step(Lane& lane) {
  const auto take_all = [&] {  // the lane is removed then
    QueuedSentences all;
    for (const auto& [id, sentence] : std::exchange(lane.sentences, {})) all.push_back(sentence);
    return all;
  };
  QueuedSentences finished;
  try {
    end_cancelled(lane);
    for (auto& [id, hypotheses] : lane.search.step()) {
      auto* sentence = lane.sentences.at(id);
      sentence->translation.hypotheses = std::move(hypotheses);
      steps_.complete(*sentence);
      lane.sentences.erase(id);
      finished.push_back(sentence);
    }
    report_partial(lane);
  } catch (const CancelledSearch&) {
    supply_.fail(take_all(), std::current_exception());
  } catch (...) {
    fail(take_all());
  }
  if (!finished.empty()) supply_.finish(finished);
}

void ContinuousBatch::end_cancelled(Lane& lane) {
  std::vector<std::size_t> ids;
  QueuedSentences cancelled;
  for (const auto& [id, sentence] : lane.sentences) {
    if (!is_cancelled(*sentence)) continue;
    ids.push_back(id);
    cancelled.push_back(sentence);
  }
  if (ids.empty()) return;
  lane.search.remove(ids);
  for (const auto id : ids) lane.sentences.erase(id);
  supply_.fail(cancelled, std::make_exception_ptr(CancelledSearch()));
}

void ContinuousBatch::report_partial(const Lane& lane) {
  const auto wants = [](const auto& entry) {
    const auto& group = entry.second->line->group;
    return group && group->wants_partial;
  };
  if (std::ranges::none_of(lane.sentences, wants)) return;
  for (auto& [id, tokens] : lane.search.best_so_far()) {
    const auto entry = lane.sentences.find(id);
    if (!wants(*entry)) continue;
    const auto& sentence = *entry->second;
    supply_.partial(sentence, steps_.text(sentence, std::move(tokens)));
  }
}

// Ends sentences with the exception that is being handled, or tries each alone.
void ContinuousBatch::fail(const QueuedSentences& sentences) {
  const auto error = std::current_exception();
  if (sentences.size() == 1) {
    supply_.fail(sentences, error);
    return;
  }
  for (auto* sentence : sentences) try_alone(sentence);
}

void ContinuousBatch::try_alone(QueuedSentence* sentence) {
  try {
    auto& lane = new_lane(*sentence);
    lane.is_closed = true;
    join(lane, {sentence});
  } catch (...) {
    supply_.fail({sentence}, std::current_exception());
  }
}

}  // namespace regard
