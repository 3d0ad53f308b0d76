// The extension module regard._native: the functions of libregard.so with Python's types. The
// classes that users see are in regard/*.py.
//
// Every call into the library releases the global interpreter lock.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <exception>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "regard/attention_svg.h"
#include "regard/error_kind.h"
#include "regard/metrics.h"
#include "regard/model.h"

namespace nb = nanobind;

namespace {

using Lines = std::vector<std::string>;

constexpr auto signal_interval = std::chrono::milliseconds(50);

// Ends a call of the library after a signal handler of Python raised an exception.
struct Interrupted {};

using Progress = regard::Model::Progress;

bool is_main_thread() {
  const auto main = nb::module_::import_("threading").attr("main_thread")().attr("ident");
  return nb::cast<unsigned long>(main) == PyThread_get_thread_ident();
}

// The calls of the library that run now. A daemon thread that came back from one while the
// interpreter is finalised would be ended by it in the middle of C++ code, which aborts the
// process. So the interpreter waits for all calls at its exit, and their threads then sleep until
// the process ends.
class RunningCalls {
 public:
  // Throws std::runtime_error in the thread that ends the interpreter.
  void begin() {
    std::unique_lock lock(mutex_);
    if (ending_ && std::this_thread::get_id() == ender_) {
      throw std::runtime_error("the interpreter is shutting down");
    }
    if (ending_) sleep(lock);
    ++count_;
  }
  // Call before the interpreter lock is taken again, and end() after it.
  void before_end() {
    std::unique_lock lock(mutex_);
    if (!ending_) return;
    --count_;
    none_.notify_all();
    sleep(lock);
  }
  void end() {
    const std::lock_guard lock(mutex_);
    --count_;
    none_.notify_all();
  }
  bool are_ending() const { return ending_; }
  // Makes translations stop, and waits for all calls. In a forked process they have no threads.
  void finish() {
    if (getpid() != process_) return;
    const nb::gil_scoped_release release;
    std::unique_lock lock(mutex_);
    ender_ = std::this_thread::get_id();
    ending_ = true;
    nb::set_leak_warnings(count_ == 0);  // threads that sleep keep what they hold
    none_.wait(lock, [this] { return count_ == 0; });
  }

 private:
  [[noreturn]] static void sleep(std::unique_lock<std::mutex>& lock) {
    lock.unlock();
    for (;;) pause();
  }

  std::mutex mutex_;
  std::condition_variable none_;
  std::atomic<bool> ending_ = false;
  std::thread::id ender_;
  int count_ = 0;
  const pid_t process_ = getpid();
};
RunningCalls running_calls;

// Releases the interpreter lock for a call of the library.
class Unlocked {
 public:
  Unlocked() { running_calls.begin(); }
  ~Unlocked() {
    running_calls.before_end();
    release_.reset();
    running_calls.end();
  }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  std::optional<nb::gil_scoped_release> release_{std::in_place};
};

// Returns call(progress). In the main thread of Python, the call runs in a second thread, while
// this one runs the signal handlers of Python: an exception that a handler raises, such as
// KeyboardInterrupt, ends the call (regard::Model::Progress).
template <typename Call>
auto run_interruptible(const Call& call) -> decltype(call(Progress())) {
  if (!is_main_thread()) {
    const Unlocked unlocked;
    return call([](std::size_t) {
      if (running_calls.are_ending()) throw Interrupted();
    });
  }
  std::atomic<bool> is_interrupted = false;
  std::optional<nb::python_error> raised;
  const Unlocked unlocked;
  auto result = std::async(std::launch::async, [&] {
    return call([&](std::size_t) {
      if (is_interrupted) throw Interrupted();
    });
  });
  while (result.wait_for(signal_interval) != std::future_status::ready) {
    if (raised) continue;
    const nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() == 0) continue;
    raised.emplace();  // takes the exception that the handler raised
    is_interrupted = true;
  }
  if (!raised) return result.get();
  throw std::move(*raised);
}

// Returns a NumPy array with these values, row by row.
template <typename Value>
nb::object make_array(std::vector<Value> values, const std::vector<std::size_t>& shape) {
  auto owned = std::make_unique<std::vector<Value>>(std::move(values));
  auto* data = owned->data();
  const nb::capsule owner(owned.release(), [](void* memory) noexcept {
    delete static_cast<std::vector<Value>*>(memory);
  });
  return nb::cast(nb::ndarray<nb::numpy, Value>(data, shape.size(), shape.data(), owner));
}

nb::object make_matrix(const std::vector<std::vector<float>>& rows, std::size_t columns) {
  std::vector<float> values;
  for (const auto& row : rows) values.insert(values.end(), row.begin(), row.end());
  return make_array(std::move(values), {rows.size(), columns});
}

// [layers][heads][size][size]; None if there are no layers.
nb::object make_heads(const regard::Model::HeadWeights& layers, std::size_t size) {
  if (layers.empty()) return nb::none();
  std::vector<float> values;
  for (const auto& layer : layers) {
    for (const auto& head : layer) {
      for (const auto& row : head) values.insert(values.end(), row.begin(), row.end());
    }
  }
  return make_array(std::move(values), {layers.size(), layers[0].size(), size, size});
}

// Returns (source tokens, hypotheses) for each translation. A hypothesis is (text,
// log_probability, score, tokens, token_log_probability [T], attention [T, S] or None, alignment).
nb::list convert(const std::vector<regard::Model::Translation>& translations) {
  nb::list all;
  for (const auto& translation : translations) {
    nb::list hypotheses;
    for (const auto& hypothesis : translation.hypotheses) {
      const auto& log_p = hypothesis.token_log_probability;
      const auto attention =
          hypothesis.attention.empty()
              ? nb::object(nb::none())
              : make_matrix(hypothesis.attention, translation.source_tokens.size());
      hypotheses.append(nb::make_tuple(
          hypothesis.text, hypothesis.log_probability, hypothesis.score, hypothesis.tokens,
          make_array(log_p, {log_p.size()}), attention, hypothesis.alignment));
    }
    all.append(nb::make_tuple(translation.source_tokens, hypotheses));
  }
  return all;
}

// (prefix, required phrases, banned phrases) of each line.
using Constraints = std::vector<std::tuple<std::string, Lines, Lines>>;

// The path of a file, empty for none, and terms with their translations.
using GlossaryArgument = std::pair<nb::bytes, std::vector<std::pair<std::string, Lines>>>;

regard::LineOptions line_options(const Constraints& constraints, bool whole_lines,
                                 std::size_t split_length, const GlossaryArgument& glossary) {
  regard::LineOptions options{.whole_lines = whole_lines, .split_length = split_length};
  options.glossary_file.assign(glossary.first.c_str(), glossary.first.size());
  for (const auto& [source, targets] : glossary.second) {
    options.glossary.push_back({source, targets});
  }
  for (const auto& [prefix, require, ban] : constraints) {
    options.constraints.push_back({prefix, require, ban});
  }
  return options;
}

class ForkedError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A model that can be called from any thread of the process that loaded it.
class Model {
  bool is_forked() const { return getpid() != process_; }

  template <typename Call>
  auto run(const Call& call) const {
    if (is_forked()) {
      throw ForkedError(
          "the model was loaded before this process was forked, and its threads do not exist here; "
          "load it in this process, or start processes with multiprocessing.get_context('spawn')");
    }
    return run_interruptible(call);
  }

 public:
  Model(const std::vector<nb::bytes>& folders, const std::string& mean,
        const std::vector<double>& weights, const std::string& device, std::int64_t threads,
        const std::string& precision, const std::string& src_tag, const std::string& trg_tag) {
    std::vector<std::string> paths;
    for (const auto& folder : folders) paths.emplace_back(folder.c_str(), folder.size());
    const Unlocked unlocked;
    model_ = std::make_unique<regard::Model>(paths, regard::Model::Ensemble{mean, weights}, device,
                                             threads, precision, src_tag, trg_tag);
  }
  Model(const Model& other, const std::string& src_tag, const std::string& trg_tag)
      : model_(std::make_unique<regard::Model>(other.model_->with_tags(src_tag, trg_tag))),
        process_(other.process_) {}
  ~Model() {
    // The threads of the model do not exist in a forked process, so they cannot be joined.
    if (is_forked()) (void)model_.release();
  }
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  Lines translate(const Lines& lines, const Lines& search, const Constraints& constraints,
                  bool whole_lines, std::size_t split_length,
                  const GlossaryArgument& glossary) const {
    const auto options = line_options(constraints, whole_lines, split_length, glossary);
    return run([&](const Progress& progress) {
      return model_->translate(lines, search, progress, options);
    });
  }
  nb::list n_best(const Lines& lines, std::size_t n, const Lines& search,
                  const Constraints& constraints, bool whole_lines, std::size_t split_length,
                  const GlossaryArgument& glossary) const {
    const auto options = line_options(constraints, whole_lines, split_length, glossary);
    return convert(run([&](const Progress& progress) {
      return model_->n_best(lines, n, search, progress, options);
    }));
  }
  nb::list score(const Lines& sources, const Lines& targets) const {
    return convert(
        run([&](const Progress& progress) { return model_->score(sources, targets, progress); }));
  }
  // Returns (source tokens, decoder inputs, encoder, decoder) for each pair.
  nb::list self_attention(const Lines& sources, const Lines& targets) const {
    nb::list all;
    for (const auto& own : run([&](const Progress& progress) {
           return model_->self_attention(sources, targets, progress);
         })) {
      all.append(nb::make_tuple(own.source_tokens, own.decoder_inputs,
                                make_heads(own.encoder, own.source_tokens.size()),
                                make_heads(own.decoder, own.decoder_inputs.size())));
    }
    return all;
  }

 private:
  std::unique_ptr<regard::Model> model_;
  pid_t process_ = getpid();
};

// Returns (metric, name, score, signature, details, sentence scores [N], mean, half width) for each
// metric. The last two are None without confidence.
nb::list evaluate(const Lines& hypotheses, const std::vector<Lines>& references,
                  const Lines& metrics, const Lines& options) {
  std::vector<regard::CorpusScore> scores;
  {
    const Unlocked unlocked;
    scores = regard::evaluate(hypotheses, references, metrics, options);
  }
  const auto or_none = [](double value) {
    return std::isnan(value) ? nb::object(nb::none()) : nb::object(nb::float_(value));
  };
  nb::list all;
  for (const auto& score : scores) {
    const auto lines = score.sentence_scores.size();
    all.append(nb::make_tuple(score.metric, score.name, score.score, score.signature, score.details,
                              make_array(score.sentence_scores, {lines}),
                              or_none(score.confidence_mean),
                              or_none(score.confidence_half_width)));
  }
  return all;
}

std::string attention_svg(const Lines& source, const Lines& target,
                          const nb::ndarray<const float, nb::ndim<2>, nb::c_contig>& weights,
                          const std::string& caption, const std::string& scale, const Lines& text,
                          const std::array<std::string, 2>& axes) {
  const std::vector<float> values(weights.data(), weights.data() + weights.size());
  const Unlocked unlocked;
  return regard::attention_svg(source, target, values, caption, scale, text, axes);
}

// Raises the exception of regard.errors for an error of the library. Leaves those of Python and of
// nanobind, and lack of memory, to nanobind.
void translate_exception(const std::exception_ptr& thrown, void* /*payload*/) {
  const char* name = nullptr;
  try {
    std::rethrow_exception(thrown);
  } catch (const nb::python_error&) {
    throw;
  } catch (const nb::builtin_exception&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const ForkedError& error) {
    PyErr_SetString(nb::module_::import_("regard.errors").attr("EnvironmentError").ptr(),
                    error.what());
  } catch (const std::exception& error) {
    switch (regard::error_kind(error)) {
      case regard::ErrorKind::configuration:
        name = "ConfigError";
        break;
      case regard::ErrorKind::input:
        name = "InputError";
        break;
      case regard::ErrorKind::checkpoint:
        name = "CheckpointError";
        break;
      case regard::ErrorKind::environment:
        name = "EnvironmentError";
        break;
      case regard::ErrorKind::unexpected:
        throw;
    }
    PyErr_SetString(nb::module_::import_("regard.errors").attr(name).ptr(), error.what());
  }
}

}  // namespace

NB_MODULE(_native, module) {
  module.doc() = "The functions of libregard.so; use the classes of the package regard instead.";
  nb::register_exception_translator(translate_exception);
  nb::class_<Model>(module, "Model")
      .def(nb::init<const std::vector<nb::bytes>&, const std::string&, const std::vector<double>&,
                    const std::string&, std::int64_t, const std::string&, const std::string&,
                    const std::string&>(),
           nb::arg("folders"), nb::arg("mean"), nb::arg("weights"), nb::arg("device"),
           nb::arg("threads"), nb::arg("precision"), nb::arg("src_tag"), nb::arg("trg_tag"))
      .def(nb::init<const Model&, const std::string&, const std::string&>(), nb::arg("model"),
           nb::arg("src_tag"), nb::arg("trg_tag"))
      .def("translate", &Model::translate, nb::arg("lines"), nb::arg("search"),
           nb::arg("constraints"), nb::arg("whole_lines"), nb::arg("split_length"),
           nb::arg("glossary"))
      .def("n_best", &Model::n_best, nb::arg("lines"), nb::arg("n"), nb::arg("search"),
           nb::arg("constraints"), nb::arg("whole_lines"), nb::arg("split_length"),
           nb::arg("glossary"))
      .def("score", &Model::score, nb::arg("sources"), nb::arg("targets"))
      .def("self_attention", &Model::self_attention, nb::arg("sources"), nb::arg("targets"));
  nb::module_::import_("atexit").attr("register")(nb::cpp_function([] { running_calls.finish(); }));
  module.def("evaluate", &evaluate, nb::arg("hypotheses"), nb::arg("references"),
             nb::arg("metrics"), nb::arg("options"));
  module.def("attention_svg", &attention_svg, nb::arg("source"), nb::arg("target"),
             nb::arg("weights"), nb::arg("caption"), nb::arg("scale"), nb::arg("text"),
             nb::arg("axes"));
}
