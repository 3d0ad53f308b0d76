#include "config/check.h"

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/strings.h"
#include "config/scalar.h"

namespace regard {
namespace {

// Larger than any model, and small enough that products of sizes do not overflow.
constexpr std::int64_t max_size = std::int64_t{1} << 24;

// Adds an error for each integer of a section that is larger than max_size.
template <Section T>
void check_section_sizes(const std::string& key, const T& section, ConfigErrors& errors) {
  for_each_field(
      [&]<typename Value>(const auto& field, const Value& value) {
        const auto full = join_key(key, field.name);
        if constexpr (Section<Value>) {
          check_section_sizes(full, value, errors);
        } else if constexpr (std::same_as<Value, std::int64_t>) {
          if (value <= max_size) return;
          errors.add(full, ": found {}, expected at most {}", value, max_size);
        }
      },
      section);
}

bool is_device(const std::string& device) {
  if (device == "auto" || device == "cpu" || device == "cuda") return true;
  // "cuda:" and one to three digits.
  if (!device.starts_with("cuda:") || device.size() == 5 || device.size() > 8) return false;
  return std::all_of(device.begin() + 5, device.end(), is_digit_byte);
}

// Checks that the default of training.model_dir is a folder below runs/.
void check_name(const Options& o, ConfigErrors& errors) {
  const bool names_folder =
      !o.name.empty() && o.name != "." && o.name != ".." && o.name.find('/') == std::string::npos;
  if (o.training.model_dir.empty() && !names_folder) {
    errors.add("name",
               ": found {}, expected the name of a folder below runs/; change it, or set "
               "training.model_dir",
               to_yaml(o.name));
  }
}

void check_top(const Options& o, ConfigErrors& errors) {
  if (!is_device(o.device)) {
    errors.add("device", ": found {}, expected auto, cpu, cuda or cuda:N", to_yaml(o.device));
  }
  check_name(o, errors);
}

// Checks the options by which the source reaches a recurrent decoder without attention.
void check_initial_state(const ModelOptions& o, ConfigErrors& errors) {
  if (o.decoder.kind != LayerKind::recurrent) return;
  const bool is_initial =
      o.attention.kind == AttentionKind::none && o.attention.fixed_context == FixedContext::initial;
  if (is_initial && o.decoder.initial_state == InitialState::zero) {
    errors.add("model.attention.fixed_context",
               " is initial, but model.decoder.initial_state is zero: the decoder would not depend "
               "on the source; set initial_state to layers or bridge");
  }
  if (is_initial && (o.decoder.query == Query::between || o.decoder.query == Query::new_)) {
    errors.add("model.decoder.query",
               " is {}, but model.attention.fixed_context is initial: no step attends to the "
               "source; set query to auto",
               to_yaml(o.decoder.query));
  }
  if (o.decoder.initial_state != InitialState::layers) return;
  const std::string key = "model.decoder.initial_state";
  const std::string needs = " is layers, which copies the state of each encoder layer, but ";
  if (o.encoder.kind != EncoderKind::recurrent || o.encoder.self_attention_layers > 0) {
    errors.add(key, "{}the encoder {}; set initial_state to bridge", needs,
               o.encoder.kind == EncoderKind::convolutional ? "is convolutional"
                                                            : "has self-attention layers");
    return;
  }
  const auto expect_equal = [&](const std::string& name, const auto& encoder, const auto& decoder) {
    if (encoder == decoder) return;
    errors.add(key, "{}model.encoder.{} is {} and model.decoder.{} is {}; make them equal", needs,
               name, to_yaml(encoder), name, to_yaml(decoder));
  };
  expect_equal("layers", o.encoder.layers, o.decoder.layers);
  expect_equal("cell", o.encoder.cell, o.decoder.cell);
  if (state_size(o.encoder) != o.decoder.hidden_size) {
    errors.add(key,
               "{}model.decoder.hidden_size is {} and an encoder state has {}; make them equal",
               needs, o.decoder.hidden_size, state_size(o.encoder));
  }
}

void check_masked_language_model(const Options& options, ConfigErrors& errors) {
  const std::string is = " is masked_language_model, but ";
  if (options.data.noise.mask == 0) {
    errors.add("model.kind", "{}data.noise.mask is 0: no token would be predicted; set it to 0.15",
               is);
  }
  const auto& encoder = options.model.encoder;
  if (encoder.kind == EncoderKind::convolutional || encoder.numbers > 0 ||
      options.data.source == SourceKind::features) {
    errors.add("model.kind",
               "{}its source is not text; remove data.source and model.encoder.numbers, and set "
               "model.encoder.kind to transformer or recurrent",
               is);
  }
  if (!options.data.tokenizer.joint) {
    errors.add("model.kind",
               "{}data.tokenizer.joint is false: it has one vocabulary; set joint to true", is);
  }
  if (options.model.tied_embeddings != TiedEmbeddings::all) {
    errors.add("model.kind",
               "{}model.tied_embeddings is {}: input and output share one matrix; set it to all",
               is, to_yaml(options.model.tied_embeddings));
  }
  check_metric(options.training, "model.kind", is, errors);
}

void check_language_model(const Options& options, ConfigErrors& errors) {
  const std::string is = " is language_model, but ";
  if (options.data.tokenizer.joint) {
    errors.add(
        "model.kind",
        "{}data.tokenizer.joint is true: it has only a target vocabulary; set joint to false", is);
  }
  if (options.model.tied_embeddings == TiedEmbeddings::all) {
    errors.add("model.kind",
               "{}model.tied_embeddings is all: it has no source embedding; set it to output", is);
  }
  check_metric(options.training, "model.kind", is, errors);
}

void check_model(const Options& options, ConfigErrors& errors) {
  const ModelOptions& o = options.model;
  if (o.kind == ModelKind::masked_language_model) {
    return check_masked_language_model(options, errors);
  }
  if (o.kind == ModelKind::language_model) check_language_model(options, errors);
  if (o.tied_embeddings == TiedEmbeddings::all && !options.data.tokenizer.joint) {
    errors.add(
        "model.tied_embeddings",
        " is all, but data.tokenizer.joint is false: source and target can share an embedding only "
        "with one vocabulary; set joint to true, or tied_embeddings to output");
  }
  if (o.tied_embeddings == TiedEmbeddings::all &&
      o.encoder.embedding_dim != o.decoder.embedding_dim) {
    errors.add("model.tied_embeddings",
               " is all, but model.encoder.embedding_dim is {} and model.decoder.embedding_dim is "
               "{}: a shared matrix needs equal widths; make them equal",
               o.encoder.embedding_dim, o.decoder.embedding_dim);
  }
  const bool recurrent = o.decoder.kind == LayerKind::recurrent;
  const auto readout_size = recurrent ? o.decoder.readout_size : o.decoder.hidden_size;
  if (o.tied_embeddings != TiedEmbeddings::none && o.output.kind != OutputKind::pointer &&
      readout_size != o.decoder.embedding_dim) {
    errors.add("model.tied_embeddings",
               " is {}, but model.decoder.{} is {} and model.decoder.embedding_dim is {}: a shared "
               "matrix needs equal widths; make them equal",
               to_yaml(o.tied_embeddings), recurrent ? "readout_size" : "hidden_size", readout_size,
               o.decoder.embedding_dim);
  }
  if (o.kind == ModelKind::translation) check_initial_state(o, errors);
  const std::int64_t width = state_size(o.encoder);
  if (recurrent && o.decoder.initial_state == InitialState::last &&
      width != o.decoder.hidden_size) {
    errors.add(
        "model.decoder.initial_state",
        " is last, but model.decoder.hidden_size is {} and the encoder's last states have {} "
        "(model.encoder.hidden_size {}, {}); make them equal, or set initial_state to bridge",
        o.decoder.hidden_size, width, o.encoder.hidden_size,
        width > o.encoder.hidden_size ? "in both directions" : "in one direction");
  }
}

void check_r_drop(const Options& options, ConfigErrors& errors) {
  if (options.training.r_drop == 0) return;
  const auto& dropout = options.model.dropout;
  const auto kind = options.model.output.kind;
  if (kind != OutputKind::vocabulary) {
    errors.add("training.r_drop",
               " is {}, but model.output.kind is {}: only the distributions over a vocabulary are "
               "compared; set r_drop to 0",
               options.training.r_drop, to_yaml(kind));
  }
  const bool has_readout = options.model.kind != ModelKind::masked_language_model;
  if (dropout.tokens + dropout.embeddings + dropout.states + dropout.attention +
          (has_readout ? dropout.readout : 0) ==
      0) {
    errors.add(
        "training.r_drop",
        " is {}, but every option of model.dropout is 0: both passes would be the same; raise one",
        options.training.r_drop);
  }
}

void check_minimum_risk(const Options& options, ConfigErrors& errors) {
  if (options.training.objective != Objective::minimum_risk) return;
  const std::string is = " is minimum_risk, but ";
  const auto& model = options.model;
  if (model.kind != ModelKind::translation) {
    errors.add("training.objective",
               "{}model.kind is {}: nothing is translated; set objective to likelihood", is,
               to_yaml(model.kind));
    return;
  }
  if (options.training.r_drop > 0) {
    errors.add(
        "training.objective",
        "{}training.r_drop is {}: it compares two passes over the references; set r_drop to 0", is,
        options.training.r_drop);
  }
  if (model.decoder.kind == LayerKind::recurrent && model.attention.kind == AttentionKind::hard &&
      model.attention.estimator == HardEstimator::reinforce) {
    errors.add("training.objective",
               "{}model.attention.kind is hard with estimator reinforce, which estimates the "
               "gradient of -log P only; set estimator to gumbel",
               is);
  }
}

void check_optimizer(const TrainingOptions& o, ConfigErrors& errors) {
  if (o.learning_rate == 0) {
    errors.add("training.learning_rate", " is 0: nothing would be learned; raise it");
  }
}

void check_schedule(const TrainingOptions& o, bool validates, ConfigErrors& errors) {
  const bool stepwise =
      o.scheduling == ScheduleKind::plateau || o.scheduling == ScheduleKind::exponential;
  if (stepwise && (o.decrease_factor == 0 || o.decrease_factor == 1)) {
    errors.add("training.scheduling",
               " is {}, but training.decrease_factor is {}: expected more than 0 and less than 1",
               to_yaml(o.scheduling), o.decrease_factor);
  }
  if (o.scheduling == ScheduleKind::plateau && !validates) {
    errors.add("training.scheduling",
               " is plateau, which needs validations, but data.dev names no files");
  }
  if (o.scheduling == ScheduleKind::cosine && o.decay_steps == 0 && o.max_steps == 0 &&
      o.epochs == 0) {
    errors.add("training.scheduling",
               " is cosine, but training.decay_steps, training.max_steps and training.epochs are "
               "all 0; set one, so that the schedule has an end");
  }
  if (o.learning_rate_min > o.learning_rate) {
    errors.add("training.learning_rate_min",
               " is {}, but training.learning_rate is {}: expected at most that",
               o.learning_rate_min, o.learning_rate);
  }
}

void check_end(const TrainingOptions& o, bool validates, ConfigErrors& errors) {
  if (o.patience > 0 && !validates) {
    errors.add("training.patience", " is {}, which needs validations, but data.dev names no files",
               o.patience);
  }
  const bool stops_at_min_rate = o.scheduling == ScheduleKind::plateau && o.learning_rate_min > 0;
  if (o.epochs == 0 && o.max_steps == 0 && o.max_minutes == 0 && o.patience == 0 &&
      !stops_at_min_rate) {
    errors.add(
        "training",
        " would never stop; set training.epochs, training.max_steps, training.max_minutes or "
        "training.patience");
  }
}

void check_coverage(const Options& o, ConfigErrors& errors) {
  const bool attends = o.model.decoder.kind == LayerKind::transformer ||
                       o.model.attention.kind != AttentionKind::none;
  if (o.search.coverage_beta == 0 || attends) return;
  errors.add("search.coverage_beta",
             " is {}, but model.attention.kind is none: coverage is a sum of attention weights; "
             "set coverage_beta to 0",
             o.search.coverage_beta);
}

void check_pointer(const Options& options, ConfigErrors& errors) {
  const auto& o = options.model;
  const auto& tokenizer = options.data.tokenizer;
  if (tokenizer.kind != TokenizerKind::word) {
    errors.add("model.output.kind",
               " is pointer, which points to words, but data.tokenizer.kind is {}; set it to word",
               to_yaml(tokenizer.kind));
  }
  if (tokenizer.joint || !tokenizer.trg_file.empty()) {
    errors.add("model.output.kind",
               " is pointer: targets are positions and have no vocabulary; set "
               "data.tokenizer.joint to false and remove trg_file");
  }
  if (o.tied_embeddings != TiedEmbeddings::none) {
    errors.add("model.tied_embeddings",
               " is {}, but a pointer network has no output layer to tie; set it to none",
               to_yaml(o.tied_embeddings));
  }
  if (o.encoder.embedding_dim != o.decoder.embedding_dim) {
    errors.add(
        "model.output.kind",
        " is pointer, which feeds source embeddings to the decoder, but "
        "model.encoder.embedding_dim is {} and model.decoder.embedding_dim is {}; make them equal",
        o.encoder.embedding_dim, o.decoder.embedding_dim);
  }
}

void check_copy(const Options& options, ConfigErrors& errors) {
  const auto& tokenizer = options.data.tokenizer;
  if (tokenizer.kind != TokenizerKind::word && !tokenizer.joint) {
    errors.add("model.output.kind",
               " is copy, but data.tokenizer.kind is {} and joint is false: both sides must split "
               "a word alike to copy its parts; set data.tokenizer.joint to true, or kind to word",
               to_yaml(tokenizer.kind));
  }
  if (tokenizer.sampling > 0) {
    errors.add("model.output.kind",
               " is copy, but data.tokenizer.sampling is {}: a word that is split at random has "
               "other parts in the source than in the target; set it to 0",
               tokenizer.sampling);
  }
  if (options.model.encoder.numbers > 0) {
    errors.add("model.output.kind",
               " is copy, but model.encoder.numbers is {}: numbers cannot be copied; set "
               "model.output.kind to pointer or vocabulary",
               options.model.encoder.numbers);
  }
}

// Checks the sizes of a convolutional encoder.
void check_images(const Options& options, ConfigErrors& errors) {
  const auto& o = options.model.encoder;
  if (o.kind != EncoderKind::convolutional || options.model.kind != ModelKind::translation) {
    return;
  }
  const std::string is = " is convolutional, but ";
  if (options.data.source != SourceKind::features) {
    errors.add("model.encoder.kind",
               "{}data.source is {}: it reads images; set data.source to features, and data.train "
               "to files of `regard features`",
               is, to_yaml(options.data.source));
  }
  if (o.numbers % o.image_channels != 0) {
    errors.add("model.encoder.numbers",
               ": found {}, expected a multiple of model.encoder.image_channels ({}): the numbers "
               "of a row of pixels",
               o.numbers, o.image_channels);
  }
  const auto cell = std::int64_t{1} << o.layers;  // height and width of a cell in pixels
  const auto check_side = [&](const std::string& key, const std::string& what,
                              std::int64_t pixels) {
    if (pixels > 0 && pixels % cell == 0) return;
    errors.add(key,
               ": found images of {} {}, expected a multiple of {}, because each of the {} blocks "
               "(model.encoder.layers) halves it",
               what, counted(pixels, "pixel"), cell, o.layers);
  };
  check_side("model.encoder.image_height", "height", o.image_height);
  check_side("model.encoder.numbers", "width", o.numbers / o.image_channels);
  const auto smallest = std::int64_t{1} << (o.layers - 1);
  if (o.hidden_size % smallest != 0) {
    errors.add("model.encoder.hidden_size",
               ": found {}, expected a multiple of {}, because each block below the last has half "
               "as many channels",
               o.hidden_size, smallest);
  }
  if (options.data.max_frames < o.image_height) {
    errors.add("data.max_frames",
               " is {}, but model.encoder.image_height is {}: no image would be left; raise it",
               options.data.max_frames, o.image_height);
  }
}

void check_output_options(const Options& options, ConfigErrors& errors) {
  const auto& output = options.model.output;
  if (output.kind == OutputKind::pointer) return check_pointer(options, errors);
  if (output.kind == OutputKind::copy) check_copy(options, errors);
}

void check_groups(const SearchOptions& o, ConfigErrors& errors) {
  if (o.beam_size % o.beam_groups != 0) {
    errors.add("search.beam_groups",
               " is {}, but search.beam_size is {}: expected a divisor, because the groups share "
               "the hypotheses",
               o.beam_groups, o.beam_size);
  }
  if (o.samples > 0 && o.beam_groups > 1) {
    errors.add(
        "search.beam_groups",
        " is {}, but search.samples is {}: samples have no beam; set one of them to its default",
        o.beam_groups, o.samples);
  }
}

void check_mbr(const SearchOptions& o, ConfigErrors& errors) {
  if (o.mbr == MbrMetric::none) return;
  const auto candidates = o.samples > 0 ? o.samples : o.beam_size;
  if (candidates > 1) return;
  errors.add("search.mbr",
             " is {}, but search.{} is 1: with a single candidate there is nothing to choose; draw "
             "more with search.samples, or widen the beam with search.beam_size",
             to_yaml(o.mbr), o.samples > 0 ? "samples" : "beam_size");
}

void check_search(const SearchOptions& o, ConfigErrors& errors) {
  if (o.min_output_length >= o.max_output_length) {
    errors.add("search.min_output_length",
               " is {}, but search.max_output_length, which includes </s>, is {}: expected less",
               o.min_output_length, o.max_output_length);
  }
  check_groups(o, errors);
  check_mbr(o, errors);
}

ConfigErrors find_errors(const Options& options, const SourceLocations& locations) {
  ConfigErrors errors(locations);
  check_section_sizes("model", options.model, errors);
  check_section_sizes("search", options.search, errors);
  if (errors.any()) return errors;  // the other checks calculate with the sizes
  check_top(options, errors);
  check_tokenizer(options.data.tokenizer, errors);
  check_model(options, errors);
  check_unread(options, errors);
  check_kinds(options, errors);
  check_source(options, errors);
  check_images(options, errors);
  check_output_options(options, errors);
  check_search(options.search, errors);
  check_coverage(options, errors);
  return errors;
}

}  // namespace

void check_options(const Options& options, const SourceLocations& locations) {
  find_errors(options, locations).throw_if_any();
}

std::string run_folder(const Options& options, const SourceLocations& locations) {
  ConfigErrors errors(locations);
  check_name(options, errors);
  errors.throw_if_any();
  const auto& folder = options.training.model_dir;
  return folder.empty() ? "runs/" + options.name : folder;
}

void check_no_extension(const TokenizerOptions& options, const SourceLocations& locations) {
  if (options.extend_by == 0) return;
  throw ConfigError(
      "{}: data.tokenizer.extend_by is {}, but there is no initial model whose vocabularies could "
      "be extended; start from one with --init-from (regard train), or set extend_by to 0",
      locations.of("data.tokenizer.extend_by"), options.extend_by);
}

void check_search_options(const SearchOptions& options) {
  const SourceLocations unknown;
  ConfigErrors errors(unknown);
  check_section_sizes("search", options, errors);
  errors.throw_if_any();
  Options all;
  all.search = options;
  check_unread(all, errors);
  check_search(options, errors);
  errors.throw_if_any();
}

void check_training_options(const Options& options, const SourceLocations& locations) {
  ConfigErrors errors = find_errors(options, locations);
  const bool validates = !options.data.dev.src.empty() || !options.data.dev.trg.empty();
  check_training_data(options, errors);
  check_r_drop(options, errors);
  check_minimum_risk(options, errors);
  check_optimizer(options.training, errors);
  check_schedule(options.training, validates, errors);
  check_end(options.training, validates, errors);
  errors.throw_if_any();
}

}  // namespace regard
