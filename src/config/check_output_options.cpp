#include "config/contradictions.h"
#include "config/scalar.h"

namespace regard {

namespace {

void check_pointer(const Options& options, Contradictions& problems) {
  const auto& o = options.model;
  const auto& tokenizer = options.data.tokenizer;
  if (tokenizer.kind != TokenizerKind::word) {
    problems.add(
        "model.output.kind is pointer, which points at words, but data.tokenizer.kind is {}: set "
        "it to word",
        to_yaml(tokenizer.kind));
  }
  if (tokenizer.joint || !tokenizer.trg_file.empty()) {
    problems.add(
        "model.output.kind is pointer: a target of positions has no vocabulary; set "
        "data.tokenizer.joint to false and leave trg_file out");
  }
  if (o.tied_embeddings != TiedEmbeddings::none) {
    problems.add("model.tied_embeddings is {}, but a pointer has no output layer to tie; set none",
                 to_yaml(o.tied_embeddings));
  }
  if (o.encoder.embedding_dim != o.decoder.embedding_dim) {
    problems.add(
        "model.output.kind is pointer, which feeds the decoder embedded source elements, but "
        "model.encoder.embedding_dim is {} and model.decoder.embedding_dim is {}: make them equal",
        o.encoder.embedding_dim, o.decoder.embedding_dim);
  }
}

void check_copy(const Options& options, Contradictions& problems) {
  const auto kind = options.data.tokenizer.kind;
  if (kind != TokenizerKind::word) {
    problems.add(
        "model.output.kind is copy, but data.tokenizer.kind is {}: sub-words and characters have "
        "no unseen words, so there is nothing to copy; set data.tokenizer.kind to word",
        to_yaml(kind));
  }
  if (options.model.encoder.numbers > 0) {
    problems.add(
        "model.output.kind is copy, but model.encoder.numbers is {}: numbers are no words to copy; "
        "take pointer, or vocabulary",
        options.model.encoder.numbers);
  }
}

}  // namespace

void check_numbers(const Options& options, Contradictions& problems) {
  const auto& tokenizer = options.data.tokenizer;
  const auto width = options.model.encoder.numbers;
  if (width == 0) return;
  if (tokenizer.kind != TokenizerKind::word) {
    problems.add(
        "model.encoder.numbers is {}, so that each word is a vector, but data.tokenizer.kind is "
        "{}: set it to word",
        width, to_yaml(tokenizer.kind));
  }
  if (tokenizer.joint || !tokenizer.src_file.empty()) {
    problems.add(
        "model.encoder.numbers is {}: a source of numbers has no vocabulary; set "
        "data.tokenizer.joint to false and leave src_file out",
        width);
  }
}

void check_output_options(const Options& options, Contradictions& problems) {
  const auto& output = options.model.output;
  if (output.kind == OutputKind::pointer) return check_pointer(options, problems);
  if (output.size != OutputOptions().size) {
    problems.add("model.output.size is {}, but model.output.kind is {}: only pointer reads it",
                 output.size, to_yaml(output.kind));
  }
  if (output.kind == OutputKind::copy) check_copy(options, problems);
}

}  // namespace regard
