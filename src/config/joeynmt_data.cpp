#include <algorithm>
#include <utility>

#include "config/joeynmt_conversion.h"

namespace regard {
namespace {

// Where JoeyNMT has no limit and regard has one: beyond any sentence, and any text's words.
constexpr std::int64_t any_length = 100'000;
constexpr std::int64_t any_words = 10'000'000;

const std::string src = "data.src.";
const std::string trg = "data.trg.";

}  // namespace

void Conversion::data() {
  const auto type = joey_.take_lower("data.dataset_type", "plain");
  if (type != "plain") joey_.note("data.dataset_type", "regard reads two plain text files");
  const auto languages =
      std::pair{joey_.take("data.src.lang", "src"), joey_.take("data.trg.lang", "trg")};
  for (const std::string part : {"train", "dev"}) {
    const auto stem = joey_.take("data." + part);
    if (!stem) continue;
    const auto key = part == "train" ? std::string("data.train.0.") : std::string("data.dev.");
    put_text(key + "src", *stem + "." + languages.first);
    put_text(key + "trg", *stem + "." + languages.second);
  }
  tokenizer();
  const auto longest = larger({"data.src.max_length", -1}, {"data.trg.max_length", -1});
  put_whole("data.max_length", longest > 0 ? longest : any_length);
  put_whole("data.max_ratio", 0);
  for (const std::string key : {"data.src.min_length", "data.trg.min_length"}) {
    if (joey_.take_number(key, 1) > 1) joey_.note(key, "regard leaves out empty lines only");
  }
}

void Conversion::tokenizer() {
  const auto level = joey_.take_lower(src + "level", "bpe");
  if (joey_.take_lower(trg + "level", level) != level) {
    joey_.note(trg + "level", "regard has one kind of tokenizer for both sides, here the source's");
  }
  std::string kind = level == "char" ? "character" : level;
  if (level == "bpe") {
    const auto type = joey_.take_lower(src + "tokenizer_type", "sentencepiece");
    joey_.take(trg + "tokenizer_type");
    const auto model = joey_.take_lower(src + "tokenizer_cfg.model_type", "unigram");
    joey_.take(trg + "tokenizer_cfg.model_type");
    kind = type == "sentencepiece" && model == "unigram" ? "unigram" : "bpe";
    if (type != "sentencepiece") {
      joey_.note(src + "tokenizer_type", "SentencePiece's BPE is trained in its place");
    }
  }
  put("data.tokenizer.kind", kind);
  if (level == "bpe") sentencepiece_models();
  vocabulary(level);
  normalisation();
}

// A side whose sub-words are SentencePiece's keeps its model.
void Conversion::sentencepiece_models() {
  for (const std::string side : {"src", "trg"}) {
    const auto from = "data." + side + ".";
    const bool is_bpe = joey_.take_lower(from + "level", "bpe") == "bpe";
    const auto type = joey_.take_lower(from + "tokenizer_type", "sentencepiece");
    if (!is_bpe || type != "sentencepiece") continue;
    const auto model = joey_.take(from + "tokenizer_cfg.model_file");
    if (!model) continue;
    put_text("data.tokenizer." + side + "_file", *model);
    joey_.note(from + "voc_file", "the SentencePiece model has its vocabulary in it");
    joey_.take(from + "voc_file");
  }
}

void Conversion::vocabulary(const std::string& level) {
  const auto merges =
      larger({src + "tokenizer_cfg.num_merges"}, {trg + "tokenizer_cfg.num_merges"});
  const auto limit = larger({src + "voc_limit"}, {trg + "voc_limit"});
  if (limit > 0 || merges > 0) {
    put_whole("data.tokenizer.vocabulary_size", limit > 0 ? limit : merges);
  } else if (level != "bpe") {
    put_whole("data.tokenizer.vocabulary_size", any_words);
  }
  const auto frequency = larger({src + "voc_min_freq", 1}, {trg + "voc_min_freq", 1});
  if (frequency > 1) put_whole("data.tokenizer.min_frequency", frequency);
  const auto coverage = joey_.take_number(src + "tokenizer_cfg.character_coverage", 1);
  joey_.take(trg + "tokenizer_cfg.character_coverage");
  if (level == "bpe" && coverage < 1) put("data.tokenizer.character_coverage", coverage);
  const auto sampling = std::max(joey_.take_number(src + "tokenizer_cfg.dropout", 0),
                                 joey_.take_number(src + "tokenizer_cfg.alpha", 0));
  joey_.take(trg + "tokenizer_cfg.dropout");
  joey_.take(trg + "tokenizer_cfg.alpha");
  if (level == "bpe" && sampling > 0) put("data.tokenizer.sampling", sampling);
  if (level == "bpe") return;
  const auto src_file = joey_.take(src + "voc_file");
  const auto trg_file = joey_.take(trg + "voc_file");
  if (src_file) put_text("data.tokenizer.src_file", *src_file);
  if (trg_file) put_text("data.tokenizer.trg_file", *trg_file);
}

void Conversion::normalisation() {
  const bool lowercase = joey_.take_flag(src + "lowercase", false);
  if (joey_.take_flag(trg + "lowercase", lowercase) != lowercase) {
    joey_.note(trg + "lowercase", "regard lower-cases both sides or none, here as the source");
  }
  if (lowercase) put_flag("data.tokenizer.lowercase", true);
  for (const auto& side : {src, trg}) {
    if (joey_.take_lower(side + "tokenizer_cfg.pretokenizer", "none") != "none") {
      joey_.note(side + "tokenizer_cfg.pretokenizer",
                 "regard reads raw text, or text tokenised before");
    }
    if (!joey_.take_flag(side + "normalize", false)) continue;
    joey_.note(side + "normalize", "regard leaves text as it is");
  }
}

}  // namespace regard
