// regard features: log-mel features of WAV files, or the pixels of PNG files, as the source of a
// model (data/feature_file.h).
#include <algorithm>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "base/choice.h"
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
#include "data/png_file.h"
#include "data/wav_file.h"
#include "kernels/device.h"
#include "report/format.h"
#include "report/progress.h"
#include "text/unicode.h"

namespace regard {
namespace {

constexpr std::size_t items_at_once = 256;

FeatureNormalisation normalisation_named(const std::string& name) {
  return choice_named<FeatureNormalisation>("--normalise", name);
}

// Settings that `--like` copies from another file.
struct Settings {
  LogMelOptions options;
  std::optional<FeatureStatistics> statistics;  // of a global normalisation
};

// Reads the settings of a file that this command wrote from sounds. Throws InputError.
Settings read_settings(const std::string& path) {
  const FeatureFile checked(path);  // its messages are those of an input
  TensorMetadata metadata;
  const auto tensors = read_safetensors(path, &metadata, "features");
  if (metadata.contains("image_width")) {
    throw InputError(
        "{}: found features of images, expected those of sounds, as the list has sounds", path);
  }
  const auto number = [&]<typename T>(const char* key, T& value) {
    const auto found = metadata.find(key);
    const auto text = found == metadata.end() ? "" : found->second;
    value = parse_number<T>(text).value_or(0);
    if (value > 0) return;
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

// The paths of a list, one in each line.
class FileList {
 public:
  explicit FileList(const std::string& list)
      : name_(input_name(path_or_dash(list))), paths_(read_lines(path_or_dash(list))) {
    if (paths_.empty()) {
      throw InputError("{}: empty, expected the path of a WAV or PNG file in each line", name_);
    }
    for (std::size_t i = 0; i < paths_.size(); ++i) {
      if (!is_blank(paths_[i])) continue;
      throw InputError("{}:{}: found a blank line, expected the path of a WAV or PNG file", name_,
                       i + 1);
    }
  }

  std::size_t size() const { return paths_.size(); }
  const std::string& operator[](std::size_t i) const { return paths_[i]; }

  // Calls use(i, compute(i)) for each file in their order. compute() runs on all threads.
  template <typename Compute, typename Use>
  void for_each(ThreadPool& pool, const std::string& activity, const Compute& compute,
                const Use& use) const {
    DecodingReporter reporter(activity, static_cast<std::int64_t>(size()));
    for (std::size_t begin = 0; begin < size(); begin += items_at_once) {
      std::vector<decltype(compute(begin))> results(std::min(items_at_once, size() - begin));
      parallel_for(pool, results.size(),
                   [&](std::size_t i) { at(begin + i, [&] { results[i] = compute(begin + i); }); });
      for (std::size_t i = 0; i < results.size(); ++i) use(begin + i, results[i]);
      reporter.update(static_cast<std::int64_t>(begin + results.size()));
    }
  }

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

 private:
  std::string name_;
  std::vector<std::string> paths_;
};

// The WAV files of a list.
class Sounds {
 public:
  Sounds(const FileList& files, const LogMelOptions& options, ThreadPool& pool)
      : files_(files), log_mel_(options), pool_(pool) {}

  // Calls use(i, features) for each file in their order, with features [frames, bins] that are not
  // normalised.
  template <typename Use>
  void for_each(const std::string& activity, const Use& use) const {
    const auto compute = [&](std::size_t i) {
      const WavFile wav(files_[i]);
      if (wav.size() == 0) throw InputError("found no samples; remove the file from the list");
      return log_mel_(wav);
    };
    files_.for_each(pool_, activity, compute, use);
  }

  // Returns the number of frames of each file, from their headers.
  std::vector<std::int64_t> lengths() const {
    std::vector<std::int64_t> lengths(files_.size());
    parallel_for(pool_, files_.size(), [&](std::size_t i) {
      files_.at(i, [&] { lengths[i] = log_mel_.frames(WavFile(files_[i]).size()); });
    });
    return lengths;
  }

 private:
  const FileList& files_;
  LogMel log_mel_;
  ThreadPool& pool_;
};

// Writes the header of a feature file, the statistics, unless there are none, and the lengths. The
// features follow.
void write_header(OutputFile& output, const std::vector<std::int64_t>& lengths, std::int64_t width,
                  const TensorMetadata& metadata,
                  const std::optional<FeatureStatistics>& global = {}) {
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
    add("mean", "F64", {width});
    add("scale", "F64", {width});
  }
  add("lengths", "I64", {std::ssize(lengths)});
  add("features", "F32", {frames, width});
  output.write(encode_safetensors_header(entries, metadata));
  if (global) {
    output.write(bytes_of(global->mean));
    output.write(bytes_of(global->scale));
  }
  output.write({reinterpret_cast<const char*>(lengths.data()), lengths.size() * sizeof lengths[0]});
}

void write_sounds(const FeaturesArguments& arguments, const FileList& files, ThreadPool& pool) {
  Settings settings;
  if (arguments.like.empty()) {
    settings.options = {arguments.rate, arguments.bins, arguments.window, arguments.hop,
                        normalisation_named(arguments.normalise)};
  } else {
    settings = read_settings(arguments.like);
  }
  const auto& options = settings.options;
  const Sounds sounds(files, options, pool);
  OutputFile output(arguments.output);
  const auto lengths = sounds.lengths();
  if (options.normalisation == FeatureNormalisation::global && !settings.statistics) {
    FeatureSums sums(options.bins);
    sounds.for_each("measuring", [&](std::size_t, const torch::Tensor& x) { sums.add(x); });
    settings.statistics = sums.statistics();
  }
  const TensorMetadata metadata = {
      {"settings", settings_text(options, settings.statistics)},
      {"frame_seconds", fmt::format("{}", options.hop / 1000)},
      {"rate", std::to_string(options.rate)},
      {"bins", std::to_string(options.bins)},
      {"window_ms", fmt::format("{}", options.window)},
      {"hop_ms", fmt::format("{}", options.hop)},
      {"normalisation", std::string(enum_name(options.normalisation))}};
  write_header(output, lengths, options.bins, metadata, settings.statistics);
  std::int64_t frames = 0;
  sounds.for_each("computing", [&](std::size_t i, const torch::Tensor& x) {
    if (x.size(0) != lengths[i]) {
      files.at(i, [] { throw InputError("changed while it was read; run the command again"); });
    }
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
  log::info("{}: {}, {} frames, {} of sound; {}", arguments.output, counted(files.size(), "item"),
            format_thousands(frames),
            format_duration(static_cast<double>(frames) * options.hop / 1000),
            settings_text(options, settings.statistics));
}

// Throws ConfigError if an option of sounds is given.
void reject_options_of_sounds(const FeaturesArguments& given) {
  const FeaturesArguments defaults;
  const auto reject = [](const char* option, const auto& value, const auto& by_default) {
    if (value == by_default) return;
    throw ConfigError("{}: found {}, but the list has images: only sounds have it; leave it out",
                      option, value);
  };
  reject("--rate", given.rate, defaults.rate);
  reject("--bins", given.bins, defaults.bins);
  reject("--window", given.window, defaults.window);
  reject("--hop", given.hop, defaults.hop);
  reject("--normalise", given.normalise, defaults.normalise);
}

// Throws InputError if the file of --like has no features of images of this size.
void check_like(const std::string& path, const std::string& settings) {
  const FeatureFile file(path);
  if (file.settings() == settings) return;
  throw InputError(
      "{}: found features of the settings `{}`, but the first image of the list has {}", path,
      file.settings(), settings);
}

void write_images(const FeaturesArguments& arguments, const FileList& files, ThreadPool& pool) {
  reject_options_of_sounds(arguments);
  std::int64_t width = 0;
  std::int64_t height = 0;
  files.at(0, [&] {
    const auto first = read_png(files[0]);
    width = first.width;
    height = first.height;
  });
  const auto settings = fmt::format("image, {} x {} pixels, RGB from 0 to 1", width, height);
  if (!arguments.like.empty()) check_like(arguments.like, settings);
  OutputFile output(arguments.output);
  const std::vector<std::int64_t> lengths(files.size(), height);
  write_header(output, lengths, 3 * width,
               {{"settings", settings},
                {"image_width", std::to_string(width)},
                {"image_height", std::to_string(height)}});
  const auto read = [&](std::size_t i) {
    const auto image = read_png(files[i]);
    if (image.width != width || image.height != height) {
      throw InputError(
          "found an image of {} x {} pixels, expected {} x {}, the size of the first one of the "
          "list; scale it",
          image.width, image.height, width, height);
    }
    std::vector<float> values(image.rgb.size());
    std::ranges::transform(image.rgb, values.begin(),
                           [](std::uint8_t byte) { return static_cast<float>(byte) / 255; });
    return values;
  };
  files.for_each(pool, "reading", read, [&](std::size_t, const std::vector<float>& values) {
    output.write({reinterpret_cast<const char*>(values.data()), values.size() * sizeof values[0]});
  });
  output.commit();
  log::info("{}: {}; {}", arguments.output, counted(files.size(), "item"), settings);
}

// Returns true if the file can be read and begins like a PNG file.
bool is_png(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string start(8, '\0');
  in.read(start.data(), static_cast<std::streamsize>(start.size()));
  return in && begins_like_png(start);
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
  const FileList files(arguments.input);
  if (is_png(files[0])) {
    write_images(arguments, files, *pool);
  } else {
    write_sounds(arguments, files, *pool);
  }
  return ExitCode::ok;
}

}  // namespace regard
