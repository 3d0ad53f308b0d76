#include "data/batch.h"

#include <algorithm>
#include <numeric>

#include "data/corpus.h"
#include "kernels/device.h"
#include "text/vocabulary.h"

namespace regard {
namespace {

using Tokens = std::span<const std::int32_t>;

struct Pair : CorpusPair {
  std::int64_t index;
  Tokens masked = {};
  std::int32_t first_target = bos_id;

  // Returns the number of source tokens or frames, without </s>.
  std::size_t source_length() const {
    return source.size() + static_cast<std::size_t>(frames.count());
  }
};

// The tokens around those of a row.
struct Ends {
  bool bos;  // Pair::first_target before
  bool eos;  // </s> after
};

// Returns one row per pair: the tokens of this side and their ends, then <pad>. A row without ends
// has room for at least one token.
torch::Tensor padded(const std::vector<Pair>& pairs, Tokens Pair::*side, Ends ends) {
  std::size_t longest = ends.eos ? 0 : 1;
  for (const Pair& pair : pairs) longest = std::max(longest, (pair.*side).size());
  const std::size_t width = longest + (ends.bos ? 1 : 0) + (ends.eos ? 1 : 0);
  const auto rows = static_cast<std::int64_t>(pairs.size());
  auto tensor = torch::full({rows, static_cast<std::int64_t>(width)}, pad_id, torch::kInt64);
  auto* row = tensor.data_ptr<std::int64_t>();
  for (const Pair& pair : pairs) {
    std::int64_t* to = row;
    if (ends.bos) *to++ = pair.first_target;
    to = std::copy((pair.*side).begin(), (pair.*side).end(), to);
    if (ends.eos) *to = eos_id;
    row += width;
  }
  return tensor;  // [B, width]
}

// Returns the vectors of numbers [B, S, F + 1], padded with zeros. Pair::numbers has F + 1 numbers
// for each token and for </s>. The first pair must be the longest.
torch::Tensor padded_numbers(const std::vector<Pair>& pairs) {
  const auto longest = static_cast<std::int64_t>(pairs.front().source.size()) + 1;
  const auto width = static_cast<std::int64_t>(pairs.front().numbers.size()) / longest;
  const auto rows = static_cast<std::int64_t>(pairs.size());
  auto tensor = torch::zeros({rows, longest, width});
  auto* row = tensor.data_ptr<float>();
  for (const Pair& pair : pairs) {
    std::copy(pair.numbers.begin(), pair.numbers.end(), row);
    row += longest * width;
  }
  return tensor;
}

// Returns the frames [B, S, F + 1] as padded_numbers() returns vectors of numbers. The first pair
// must be the longest.
torch::Tensor padded_frames(const std::vector<Pair>& pairs) {
  const auto longest = pairs.front().frames.count() + 1;
  const auto width = pairs.front().frames.width;
  const auto rows = static_cast<std::int64_t>(pairs.size());
  auto tensor = torch::zeros({rows, longest, width + 1});
  auto* row = tensor.data_ptr<float>();
  for (const Pair& pair : pairs) {
    auto* to = row;
    const auto& values = pair.frames.values;
    for (auto from = values.begin(); from != values.end(); from += width) {
      to = std::copy_n(from, width, to) + 1;
    }
    to[width] = 1;
    row += longest * (width + 1);
  }
  return tensor;
}

SourceBatch::Values source_values(const std::vector<Pair>& pairs) {
  if (pairs.front().frames.width > 0) return SourceVectors{padded_frames(pairs)};
  if (!pairs.front().numbers.empty()) return SourceVectors{padded_numbers(pairs)};
  auto source = padded(pairs, &Pair::source, {.bos = false, .eos = true});  // [B, S]
  if (pairs.front().extended_ids.empty()) return SourceIds{source};
  auto extended_ids = torch::full_like(source, pad_id);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (pairs[i].extended_ids.size() != pairs[i].source.size() + 1) {
      throw std::logic_error("a source has as many extended ids as tokens, and one of </s>");
    }
    auto* row =
        extended_ids.data_ptr<std::int64_t>() + static_cast<std::int64_t>(i) * extended_ids.size(1);
    std::copy(pairs[i].extended_ids.begin(), pairs[i].extended_ids.end(), row);
  }
  return CopyIds{source, extended_ids};
}

enum class TargetKind { none, sentence, masked };

Batch assemble(std::vector<Pair> pairs, TargetKind target) {
  if (pairs.empty()) throw std::logic_error("a batch needs at least one sentence");
  std::stable_sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) {
    return a.source_length() > b.source_length();
  });
  Batch batch;
  std::vector<std::int64_t> lengths;
  const bool has_eos = target == TargetKind::sentence;
  for (const Pair& pair : pairs) {
    batch.indices.push_back(pair.index);
    lengths.push_back(static_cast<std::int64_t>(pair.source_length()) + 1);
    batch.target_tokens += std::ssize(pair.target) + (has_eos ? 1 : 0);
  }
  batch.source_tokens = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
  batch.source = {source_values(pairs), torch::tensor(lengths, torch::kInt64)};
  if (target == TargetKind::none) return batch;
  batch.target = padded(pairs, &Pair::target, {.bos = true, .eos = has_eos});  // [B, T + 1]
  if (target == TargetKind::masked) {
    batch.masked = padded(pairs, &Pair::masked, {.bos = false, .eos = false});  // [B, T]
  }
  return batch;
}

std::vector<Pair> pairs_of(std::span<const Example> examples) {
  std::vector<Pair> pairs;
  for (const Example& e : examples) {
    pairs.push_back({{.source = e.source,
                      .target = e.target,
                      .numbers = e.numbers,
                      .extended_ids = e.extended_ids,
                      .frames = e.frames},
                     e.index,
                     e.masked,
                     e.first_target});
  }
  return pairs;
}

}  // namespace

Batch Batch::to(torch::Device device) const {
  if (source.device() == device) return *this;
  if (block.defined()) return with_block(to_device(block, device));
  Batch moved = *this;
  moved.source = source.map([&](const torch::Tensor& x) { return to_device(x, device); });
  if (!target.defined()) return moved;
  moved.target = to_device(target, device);
  if (masked.defined()) moved.masked = to_device(masked, device);
  moved.target_positions = to_device(target_output().flatten().nonzero().squeeze(1), device);
  return moved;
}

bool Batch::can_be_padded() const {
  return target.defined() && !std::holds_alternative<SourceVectors>(source.values);
}

Batch Batch::padded(std::int64_t max_source, std::int64_t max_target) const {
  const auto rounded_up = [](std::int64_t n, std::int64_t unit) {
    return (n + unit - 1) / unit * unit;
  };
  const auto missing = [&](std::int64_t positions, std::int64_t limit) {
    return std::max<std::int64_t>(std::min(rounded_up(positions, 4), limit) - positions, 0);
  };
  const auto B = size();
  const auto rows = rounded_up(B, 8) - B;
  const auto more_source = missing(source.positions(), max_source);
  const auto more_target = missing(target.size(1) - 1, max_target);
  // Returns x [B, …] with more positions and rows, which begin with `first`.
  const auto enlarged = [&](const torch::Tensor& x, std::int64_t more, std::int64_t first) {
    std::vector<std::int64_t> sizes = {0, rows};  // from the last dimension to the first
    if (x.dim() > 1) sizes.insert(sizes.begin(), {0, more});
    auto larger = torch::constant_pad_nd(x, sizes, pad_id);
    const auto behind = larger.narrow(0, B, rows);
    (x.dim() > 1 ? behind.select(1, 0) : behind).fill_(first);
    return larger;
  };
  Batch larger = *this;
  larger.target_positions = torch::Tensor();
  larger.source =
      source.map([&](const torch::Tensor& x) { return enlarged(x, more_source, eos_id); });
  larger.source.lengths = enlarged(source.lengths, 0, 1);
  larger.target = enlarged(target, more_target, bos_id);
  if (masked.defined()) larger.masked = enlarged(masked, more_target, 0);
  auto all = larger.source.tensors();
  for (const auto& x : {larger.source.lengths, larger.target, larger.masked}) {
    if (x.defined()) all.push_back(x);
  }
  for (auto& x : all) x = x.flatten();
  return larger.with_block(torch::cat(all));
}

Batch Batch::with_block(const torch::Tensor& memory) const {
  Batch moved = *this;
  moved.block = memory;
  std::int64_t begin = 0;
  const auto next = [&](const torch::Tensor& x) {
    if (!x.defined()) return x;
    begin += x.numel();
    return memory.narrow(0, begin - x.numel(), x.numel()).view(x.sizes());
  };
  moved.source = source.map(next);
  moved.source.lengths = next(source.lengths);
  moved.target = next(target);
  moved.masked = next(masked);
  return moved;
}

Batch Batch::select(std::int64_t begin, std::int64_t end, std::int64_t step) const {
  Batch part;
  for (std::int64_t row = begin; row < end; row += step) {
    part.indices.push_back(indices[static_cast<std::size_t>(row)]);
  }
  const auto rows_of = [&](const torch::Tensor& x) { return x.slice(0, begin, end, step); };
  const auto lengths = rows_of(source.lengths).cpu();
  const auto longest = lengths[0].item<std::int64_t>();
  part.source = source.map(
      [&](const torch::Tensor& x) { return rows_of(x).slice(1, 0, longest).contiguous(); });
  part.source.lengths = lengths;
  part.source_tokens = lengths.sum().item<std::int64_t>();
  if (target.defined()) {
    const auto rows = rows_of(target);
    const auto target_lengths = rows.ne(pad_id).sum(1);  // with <s> and </s>
    const auto width = std::max<std::int64_t>(target_lengths.max().item<std::int64_t>(), 2);
    part.target = rows.slice(1, 0, width).contiguous();
    part.target_tokens = target_lengths.sum().item<std::int64_t>() - target_lengths.numel();
    if (masked.defined()) {
      part.masked = rows_of(masked).slice(1, 0, width - 1).contiguous();
    }
  }
  return part;
}

Batch make_batch(std::span<const Example> examples) {
  return assemble(pairs_of(examples), TargetKind::sentence);
}

Batch make_masked_batch(std::span<const Example> examples) {
  return assemble(pairs_of(examples), TargetKind::masked);
}

Example example_of(const Corpus& corpus, std::int64_t i) {
  const auto pair = corpus.pair(i);
  return {.index = i,
          .source = {pair.source.begin(), pair.source.end()},
          .target = {pair.target.begin(), pair.target.end()},
          .numbers = {pair.numbers.begin(), pair.numbers.end()},
          .extended_ids = {pair.extended_ids.begin(), pair.extended_ids.end()},
          .frames = pair.frames,
          .first_target = corpus.part_of(i).first_target};
}

Batch make_batch(const Corpus& corpus, std::span<const std::int64_t> pairs) {
  std::vector<Pair> rows;
  for (const auto i : pairs) {
    rows.push_back({corpus.pair(i), i, {}, corpus.part_of(i).first_target});
  }
  return assemble(std::move(rows), TargetKind::sentence);
}

Batch make_source_batch(std::span<const SourceLine> sources) {
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const SourceLine& line = sources[i];
    pairs.push_back({{.source = line.tokens,
                      .numbers = line.numbers,
                      .extended_ids = line.extended_ids,
                      .frames = line.frames},
                     static_cast<std::int64_t>(i)});
  }
  return assemble(std::move(pairs), TargetKind::none);
}

}  // namespace regard
