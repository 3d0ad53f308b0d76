// regard features: log-mel features of WAV files, as the source of a model (data/feature_file.h).
#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/safetensors_header.h"
#include "base/sha256.h"
#include "base/strings.h"
#include "base/thread_pool.h"
#include "checkpoint/safetensors.h"
#include "commands/commands.h"
#include "commands/output_file.h"
#include "data/feature_file.h"
#include "data/line_reader.h"
#include "data/log_mel.h"
#include "data/wav_file.h"
#include "kernels/device.h"
#include "report/format.h"
#include "report/progress.h"

namespace regard {
namespace {

constexpr std::size_t items_at_once = 256;

FeatureNormalisation normalisation_named(const std::string& name) {
  const auto names = enum_names(FeatureNormalisation{});
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) {
    throw ConfigError("--normalise: found `{}`, expected item, global or none", name);
  }
  return static_cast<FeatureNormalisation>(found - names.begin());
}

// What `--like` takes over from another file.
struct Settings {
  LogMelOptions options;
  std::optional<FeatureStatistics> statistics;  // of a global normalisation
};

// Reads the settings of a file that this command wrote. Throws InputError.
Settings settings_of(const std::string& path) {
  const FeatureFile checked(path);  // its messages are those of an input
  TensorMetadata metadata;
  const auto tensors = read_safetensors(path, &metadata);
  const auto number = [&]<typename T>(const char* key, T& value) {
    const auto found = metadata.find(key);
    const auto text = found == metadata.end() ? "" : found->second;
    const auto* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (!text.empty() && error == std::errc() && stop == end && value > 0) return;
    throw InputError(
        "{}: found no {} in the metadata, so it was not written by `regard features`; give the "
        "settings as options instead of --like",
        path, key);
  };
  Settings settings;
  number("rate", settings.options.rate);
  number("bins", settings.options.bins);
  number("window_ms", settings.options.window);
  number("hop_ms", settings.options.hop);
  settings.options.normalisation = normalisation_named(metadata["normalisation"]);
  if (settings.options.normalisation != FeatureNormalisation::global) return settings;
  const auto find = [&](const std::string& name) {
    for (const auto& [key, tensor] : tensors) {
      const bool fits = tensor.dim() == 1 && tensor.size(0) == settings.options.bins &&
                        tensor.scalar_type() == torch::kDouble;
      if (key == name && fits) return tensor;
    }
    throw InputError("{}: found no tensor `{}` of {}, the statistics of the normalisation", path,
                     name, counted(settings.options.bins, "number"));
  };
  settings.statistics = FeatureStatistics{find("mean"), find("scale")};
  return settings;
}

std::string bytes_of(const torch::Tensor& tensor) {
  return {static_cast<const char*>(tensor.const_data_ptr()), tensor.nbytes()};
}

// Returns the settings in words, which must be the same for all files of a model.
std::string settings_text(const LogMelOptions& o, const std::optional<FeatureStatistics>& global) {
  auto text = fmt::format("log-mel, {} Hz, {} bins, window {} ms, hop {} ms, ", o.rate, o.bins,
                          o.window, o.hop);
  switch (o.normalisation) {
    case FeatureNormalisation::item:
      return text + "normalised by item";
    case FeatureNormalisation::none:
      return text + "not normalised";
    case FeatureNormalisation::global:
      break;
  }
  constexpr std::size_t digits = 12;
  return text + "normalised by the statistics " +
         sha256(bytes_of(global->mean) + bytes_of(global->scale)).substr(0, digits);
}

// The WAV files of a list.
class Sounds {
 public:
  Sounds(const std::string& list, const LogMelOptions& options, ThreadPool& pool)
      : name_(input_name(path_or_dash(list))),
        paths_(read_lines(path_or_dash(list))),
        options_(options),
        log_mel_(options),
        pool_(pool) {
    if (paths_.empty())
      throw InputError("{}: empty, expected the path of a WAV file in each line", name_);
  }

  std::size_t size() const { return paths_.size(); }

  // Calls use(i, features) for each file in their order, with features [frames, bins] that are not
  // normalised.
  template <typename Use>
  void for_each(const std::string& activity, const Use& use) const {
    DecodingReporter reporter(activity, static_cast<std::int64_t>(size()));
    for (std::size_t begin = 0; begin < size(); begin += items_at_once) {
      std::vector<torch::Tensor> features(std::min(items_at_once, size() - begin));
      parallel_for(pool_, features.size(),
                   [&](std::size_t i) { features[i] = compute(begin + i); });
      for (std::size_t i = 0; i < features.size(); ++i) use(begin + i, features[i]);
      reporter.update(static_cast<std::int64_t>(begin + features.size()));
    }
  }

  // Returns the number of frames of each file, from their headers.
  std::vector<std::int64_t> lengths() const {
    std::vector<std::int64_t> lengths(size());
    parallel_for(pool_, size(), [&](std::size_t i) {
      at(i, [&] { lengths[i] = log_mel_.frames(WavFile(paths_[i]).size()); });
    });
    return lengths;
  }

 private:
  // Calls job() and puts the line of the list before the message of an InputError.
  template <typename Job>
  void at(std::size_t i, const Job& job) const {
    try {
      job();
    } catch (const InputError& error) {
      const std::string message = error.what();
      throw InputError("{}:{}: {}{}", name_, i + 1,
                       message.starts_with(paths_[i]) ? "" : paths_[i] + ": ", message);
    }
  }

  torch::Tensor compute(std::size_t i) const {
    torch::Tensor features;
    at(i, [&] {
      const WavFile wav(paths_[i]);
      if (wav.size() == 0) throw InputError("found no samples; remove the file from the list");
      features = log_mel_(wav);
    });
    return features;
  }

  std::string name_;
  std::vector<std::string> paths_;
  LogMelOptions options_;
  LogMel log_mel_;
  ThreadPool& pool_;
};

// Writes the header of a feature file, the statistics and the lengths. The features follow.
void write_header(OutputFile& output, const std::vector<std::int64_t>& lengths,
                  const LogMelOptions& options, const std::optional<FeatureStatistics>& global) {
  std::int64_t frames = 0;
  for (const auto length : lengths) frames += length;
  std::vector<SafetensorsEntry> entries;
  std::uint64_t end = 0;
  const auto add = [&](const std::string& name, const std::string& type,
                       std::vector<std::int64_t> shape) {
    auto bytes = safetensors_element_bytes(type);
    for (const auto size : shape) bytes *= static_cast<std::uint64_t>(size);
    entries.push_back({name, type, std::move(shape), end, end + bytes});
    end += bytes;
  };
  if (global) {
    add("mean", "F64", {options.bins});
    add("scale", "F64", {options.bins});
  }
  add("lengths", "I64", {std::ssize(lengths)});
  add("features", "F32", {frames, options.bins});
  const TensorMetadata metadata = {
      {"settings", settings_text(options, global)},
      {"frame_seconds", fmt::format("{}", options.hop / 1000)},
      {"rate", std::to_string(options.rate)},
      {"bins", std::to_string(options.bins)},
      {"window_ms", fmt::format("{}", options.window)},
      {"hop_ms", fmt::format("{}", options.hop)},
      {"normalisation",
       std::string(
           enum_names(options.normalisation)[static_cast<std::size_t>(options.normalisation)])}};
  output.write(encode_safetensors_header(entries, metadata));
  if (global) {
    output.write(bytes_of(global->mean));
    output.write(bytes_of(global->scale));
  }
  output.write({reinterpret_cast<const char*>(lengths.data()), lengths.size() * sizeof lengths[0]});
}

}  // namespace

ExitCode features(const FeaturesArguments& arguments) {
  check_files({path_or_dash(arguments.input), arguments.like}, {arguments.output});
  if (arguments.output.ends_with(".gz")) {
    throw ConfigError("features: {}: features are read in place and cannot be compressed",
                      arguments.output);
  }
  const auto pool = make_thread_pool(arguments.threads.value_or(0), torch::kCPU);
  const torch::InferenceMode guard;
  Settings settings;
  if (arguments.like.empty()) {
    settings.options = {arguments.rate, arguments.bins, arguments.window, arguments.hop,
                        normalisation_named(arguments.normalise)};
  } else {
    settings = settings_of(arguments.like);
  }
  const auto& options = settings.options;
  const Sounds sounds(arguments.input, options, *pool);
  OutputFile output(arguments.output);
  const auto lengths = sounds.lengths();
  if (options.normalisation == FeatureNormalisation::global && !settings.statistics) {
    FeatureSums sums(options.bins);
    sounds.for_each("measuring", [&](std::size_t, const torch::Tensor& x) { sums.add(x); });
    settings.statistics = sums.statistics();
  }
  write_header(output, lengths, options, settings.statistics);
  std::int64_t frames = 0;
  sounds.for_each("computing", [&](std::size_t i, const torch::Tensor& x) {
    if (x.size(0) != lengths[i])
      throw InputError("{}: a sound changed while it was read", arguments.input);
    torch::Tensor values = x;
    if (options.normalisation == FeatureNormalisation::item) {
      FeatureSums sums(options.bins);
      sums.add(x);
      values = normalised(x, sums.statistics());
    } else if (settings.statistics) {
      values = normalised(x, *settings.statistics);
    }
    output.write(bytes_of(values.to(torch::kFloat).contiguous()));
    frames += x.size(0);
  });
  output.commit();
  log::info("{}: {}, {} frames, {} of sound; {}", arguments.output, counted(sounds.size(), "item"),
            format_thousands(frames),
            format_duration(static_cast<double>(frames) * options.hop / 1000),
            settings_text(options, settings.statistics));
  return ExitCode::ok;
}

}  // namespace regard
