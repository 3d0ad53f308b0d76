#include "cli/outline.h"

#include <fmt/format.h>

#include <algorithm>

namespace regard {
namespace {

struct CommandExamples {
  std::string_view command_path;
  std::vector<UsageExample> examples;
};

const std::vector<CommandExamples>& all_examples() {
  static const std::vector<CommandExamples> commands = {
      {"",
       {{"regard config init train.en train.fr -o mine.yaml",
         "write a configuration for two files"},
        {"regard train -c mine.yaml", "train with this configuration"},
        {"echo 'They are watching .' | regard translate -m runs/mine",
         "translate with the trained model"}}},
      {"train",
       {{"regard train -c mine.yaml", "train in runs/NAME; the same command resumes a stopped run"},
        {"regard train -c mine.yaml training.learning_rate=0.0005 model.decoder.layers=2",
         "override values of the configuration file"},
        {"regard train -c mine.yaml data.prepared=prepared",
         "train from a folder that `regard prepare` made"},
        {"regard train -c mine.yaml --dry-run",
         "check everything, estimate time and memory, write nothing"},
        {"regard train -c other.yaml --init-from runs/mine",
         "fine-tune a trained model on another corpus"}}},
      {"prepare",
       {{"regard prepare -c mine.yaml -o prepared", "tokenize the corpora of a configuration"},
        {"regard prepare --verify prepared", "compare the folder with its hashes"}}},
      {"features",
       {{"regard features -i train.wavs -o train.safetensors --normalise global",
         "compute features of the WAV files in a list"},
        {"regard features -i test.wavs -o test.safetensors --like train.safetensors",
         "compute features for a model that was trained on the first ones"},
        {"regard features -i train.images -o train.safetensors",
         "read the PNG files in a list, for an encoder of kind convolutional"}}},
      {"translate",
       {{"echo 'They are watching .' | regard translate -m runs/mine",
         "translate standard input, line by line"},
        {"regard translate -m runs/mine -i in.en -o out.fr --beam-size 10",
         "translate a file with a wider beam"},
        {"regard translate -m runs/mine -i in.en --n-best 5",
         "print five translations of each line"},
        {"regard translate -m runs/mine -i in.en --samples 64 --mbr chrf",
         "choose the translation that agrees best with 64 samples"},
        {"regard translate -m runs/a runs/b -i in.en -o out.fr",
         "translate with an ensemble of two models"},
        {"regard translate -m runs/mine -i in.en --require phrases",
         "require phrases in each translation"},
        {"regard translate -m runs/mine -i page.html -o page.fr.html --keep urls,numbers",
         "translate the text of a page; its tags follow the attention"},
        {"regard translate -m runs/mine -i in.en --shortlist mine.shortlist",
         "choose among the likely target tokens of each line, which `regard shortlist` learned"},
        {"regard translate -m runs/mine -i in.en --report search.html",
         "write an HTML page about the search and the attention"},
        {"regard translate -m runs/mine -i in.en --show-attention --attention-map encoder",
         "draw the self-attention of the encoder under each translation"},
        {"regard translate -m runs/mine -i in.en -o out.fr --alignments links --picture maps/",
         "also write word alignments, and draw the attention of each line"}}},
      {"synthesize",
       {{"regard synthesize -m runs/fr-en -i mono.fr -o synthetic --tag '<bt>'",
         "back-translate French text for a model from English to French; the same command goes on "
         "after a kill"},
        {"regard synthesize -m runs/fr-en -i mono.fr -o synthetic --samples 1 --top-k 10",
         "back-translate by sampling"},
        {"regard synthesize -m runs/en-fr -i mono.en -o synthetic --side target --min-score -1",
         "self-training: translate English text, and drop doubtful translations"},
        {"regard synthesize -m runs/a runs/b -i train.en -o distilled --side target",
         "distillation: the translations of an ensemble, for a smaller model"}}},
      {"evaluate",
       {{"regard evaluate -m runs/mine -s test.en -r test.fr --by-length 10,20,30",
         "translate and score, also by source length"},
        {"regard evaluate -m runs/a runs/b --each -s test.en -r test.fr --paired-bs",
         "compare two models; without --each, score their ensemble"},
        {"regard evaluate --hypotheses out.fr -r test.fr --metrics bleu,chrf++,ter",
         "score a file without a model"},
        {"regard evaluate --hypotheses out.fr -r test.fr --by domains.txt",
         "also score by the labels in a file, one for each line"},
        {"regard evaluate --hypotheses old.fr new.fr -r test.fr --paired-bs",
         "test if the difference between two systems is significant"},
        {"regard evaluate -m runs/mine -s test.en -r test.fr --format latex",
         "print a table for a paper"}}},
      {"score",
       {{"regard score -m runs/mine -s test.en -t test.fr --words",
         "print the log-probability of each line and word"},
        {"regard score -m runs/language_model -t test.fr",
         "print log-probabilities, and the perplexity, of a language model"},
        {"regard score -m runs/mine -s test.en --n-best list -o rescored",
         "add a feature to an n-best list, for `regard rerank`"},
        {"regard score -m runs/back --swap -s test.en --n-best list --feature reverse -o rescored",
         "add the log-probability of the source under a model of the opposite direction"},
        {"regard score -m runs/mine -s test.en -t test.fr --align links --reverse runs/back",
         "write word alignments, symmetrised with a model of the opposite direction"}}},
      {"rerank",
       {{"regard rerank --tune -r dev.fr -i dev.scored -o weights.json",
         "tune the weights of the features in a list of `regard translate --n-best`, to which "
         "`regard score --n-best` has added those of models"},
        {"regard rerank --weights weights.json -i test.scored -o out.fr",
         "print the best translation of each line with these weights"},
        {"regard rerank --weight score=1 --weight length=0.2 -i test.list --n-best 5",
         "reorder a list with weights by hand"}}},
      {"shortlist",
       {{"regard shortlist -m runs/mine -s train.en -t train.fr -o mine.shortlist",
         "learn a shortlist from the training data, for `regard translate --shortlist`"},
        {"regard shortlist -m runs/mine -s train.en -t train.fr --alignments links -o "
         "mine.shortlist",
         "learn it from word alignments, such as those of `regard score --align links`"}}},
      {"average",
       {{"regard average runs/mine --last 4 -o averaged",
         "average the four newest checkpoints of a run"},
        {"regard average runs/a runs/b -o averaged",
         "average two models that started from one (train --init-from)"}}},
      {"quantize",
       {{"regard quantize runs/mine -o small",
         "write a copy of the model for translation, in a quarter of the space"}}},
      {"serve",
       {{"regard serve -m runs/mine", "serve a model and the page at http://127.0.0.1:8080/"},
        {"regard serve -m en-de=runs/a -m en-fr=runs/b --port 9000 --token-file token",
         "serve two models to those who know the token"}}},
      {"info",
       {{"regard info runs/mine", "show sizes, training and scores"},
        {"regard info runs/*", "compare all runs: options that differ, scores, means over seeds"},
        {"regard info runs/mine --json", "print JSON for other programs"}}},
      {"report",
       {{"regard report runs/mine", "write runs/mine/report.html about the validation set"},
        {"regard report runs/a runs/b -o a_b.html", "compare two runs"},
        {"regard report runs/mine -s test.en -r test.fr --hypotheses out.fr",
         "report on a test set and its translations instead"}}},
      {"export",
       {{"regard export runs/mine --to onnx -o mine.onnx",
         "write encoder and decoder as ONNX graphs, with a program that translates"},
        {"regard export runs/mine --to ctranslate2 -o mine.ct2 --quantization int8",
         "write a Transformer for CTranslate2, in 8 bits"}}},
      {"pipeline",
       {{"regard pipeline configs/pipelines/best.yaml src=train.en trg=train.de dev_src=dev.en "
         "dev_trg=dev.de test_src=test.en test_trg=test.de out=runs/best",
         "train the best translator of two files; the same command goes on after a kill"},
        {"regard pipeline plan.yaml out=runs/mine --dry-run", "print the commands in order"},
        {"regard pipeline plan.yaml out=runs/mine --jobs 2", "run two steps at the same time"}}},
      {"config",
       {{"regard config init train.en train.fr -o mine.yaml", "create a configuration"},
        {"regard config print -c mine.yaml --help-comments", "print the keys with their help"}}},
      {"config print",
       {{"regard config print", "print all defaults"},
        {"regard config print -c mine.yaml training.epochs=3",
         "print the values of a file and an override, with the defaults of the other keys"}}},
      {"config init",
       {{"regard config init", "ask for all files and values"},
        {"regard config init train.en train.fr -o mine.yaml", "read two files, ask for the rest"},
        {"regard config init fra.txt -o mine.yaml", "read a file with both sides"},
        {"regard config init train.en train.fr --dev dev.en dev.fr --yes -o mine.yaml",
         "ask no questions"},
        {"regard config init train.en train.fr --split 1000 --yes -o mine.yaml",
         "hold out 1000 pairs for validation, in new files"}}},
      {"config convert",
       {{"regard config convert joeynmt.yaml -o mine.yaml",
         "convert a configuration; notes list the keys without an equivalent"}}},
      {"config docs",
       {{"regard config docs training.optimizer", "say what a key does"},
        {"regard config docs > configuration.md", "write docs/configuration.md"}}},
      {"config schema", {{"regard config schema", "print configs/schema.json"}}},
      {"completions",
       {{"source <(regard completions bash)",
         "load in the current bash; for every bash, add the line to ~/.bashrc"},
        {"regard completions zsh > ~/.zfunc/_regard", "install for zsh, in a folder of $fpath"},
        {"regard completions fish > ~/.config/fish/completions/regard.fish", "install for fish"}}},
      {"man",
       {{"regard man train | man -l -", "display a manual page"},
        {"regard man --into ~/.local/share/man/man1", "write all manual pages"}}},
  };
  return commands;
}

}  // namespace

std::vector<UsageExample> examples_of(std::string_view command_path) {
  const auto entry =
      std::ranges::find(all_examples(), command_path, &CommandExamples::command_path);
  return entry == all_examples().end() ? std::vector<UsageExample>() : entry->examples;
}

std::string examples_text(const std::vector<UsageExample>& examples) {
  if (examples.empty()) return "";
  std::string text = "Examples:\n";
  for (const auto& [command, description] : examples) {
    text += fmt::format("  {}\n      {}\n", command, description);
  }
  text.pop_back();
  return text;
}

}  // namespace regard
