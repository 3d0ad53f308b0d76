#include "cli/examples.h"

#include <algorithm>

namespace regard {
namespace {

struct Command {
  std::string_view words;
  std::vector<Example> examples;
};

const std::vector<Command>& table() {
  static const std::vector<Command> commands = {
      {"",
       {{"regard config init train.en train.fr -o mine.yaml", "a configuration for two files"},
        {"regard train -c mine.yaml", "a training of it"},
        {"echo 'They are watching .' | regard translate -m runs/mine", "what it has learnt"}}},
      {"train",
       {{"regard train -c mine.yaml", "into runs/NAME; the same again goes on where it stopped"},
        {"regard train -c mine.yaml training.learning_rate=0.0005 model.decoder.layers=2",
         "with other values than the file has"},
        {"regard train -c mine.yaml --dry-run", "check everything, make one step, write nothing"},
        {"regard train -c other.yaml --init-from runs/mine",
         "go on with another corpus from a trained model"}}},
      {"translate",
       {{"echo 'They are watching .' | regard translate -m runs/mine", "line by line"},
        {"regard translate -m runs/mine -i in.en -o out.fr --beam-size 10", "a file, wider search"},
        {"regard translate -m runs/mine -i in.en --n-best 5", "five translations of each line"},
        {"regard translate -m runs/a runs/b -i in.en -o out.fr", "two models together"},
        {"regard translate -m runs/mine -i in.en --demand phrases", "what each line must have"},
        {"regard translate -m runs/mine -i in.en --report look.html", "a page to look inside"},
        {"regard translate -m runs/mine -i in.en -o out.fr --alignments links --picture look.html",
         "with word alignments and a page of attention maps"}}},
      {"evaluate",
       {{"regard evaluate -m runs/mine -s test.en -r test.fr --by-length 10,20,30",
         "translate and score, also by source length"},
        {"regard evaluate --hypotheses out.fr -r test.fr --metrics bleu,chrf++,ter",
         "score a file; no model needed"},
        {"regard evaluate --hypotheses old.fr new.fr -r test.fr --paired-bs",
         "is the new system better?"},
        {"regard evaluate -m runs/mine -s test.en -r test.fr --format latex",
         "a table for a paper"}}},
      {"score",
       {{"regard score -m runs/mine -s test.en -t test.fr --words",
         "log-probability of each line and word"},
        {"regard score -m runs/mine -s test.en --n-best list -o rescored",
         "one more feature for an n-best list"},
        {"regard score -m runs/mine -s test.en -t test.fr --align links --reverse runs/back",
         "word alignments, symmetrised with those of the opposite direction"}}},
      {"average",
       {{"regard average runs/mine --last 4 -o averaged", "of a run's four newest checkpoints"},
        {"regard average runs/a runs/b -o averaged", "of two models"}}},
      {"info",
       {{"regard info runs/mine", "what it is, how it was trained, what it scored"},
        {"regard info runs/mine --json", "for programs"}}},
      {"report",
       {{"regard report runs/mine", "runs/mine/report.html, with what it was validated on"},
        {"regard report runs/mine -s test.en -r test.fr --hypotheses out.fr",
         "with the translations of a test set"}}},
      {"config",
       {{"regard config init train.en train.fr -o mine.yaml", "begin one"},
        {"regard config print -c mine.yaml --help-comments", "every key with its meaning"}}},
      {"config print",
       {{"regard config print", "all defaults"},
        {"regard config print -c mine.yaml training.epochs=3", "a file as regard understands it"}}},
      {"config init",
       {{"regard config init", "ask for everything"},
        {"regard config init train.en train.fr -o mine.yaml", "look at two files, ask the rest"},
        {"regard config init train.en train.fr --dev dev.en dev.fr --yes -o mine.yaml",
         "ask nothing"},
        {"regard config init train.en train.fr --split 1000 --yes -o mine.yaml",
         "set 1000 pairs apart for validation, in new files"}}},
      {"config convert",
       {{"regard config convert joeynmt.yaml -o mine.yaml",
         "what could not be carried over is said, and in the file"}}},
      {"config docs", {{"regard config docs", "docs/configuration.md"}}},
      {"config schema", {{"regard config schema", "configs/schema.json"}}},
      {"completions",
       {{"source <(regard completions bash)", "now, in this bash; in ~/.bashrc for good"},
        {"regard completions zsh > ~/.zfunc/_regard", "a folder of $fpath"},
        {"regard completions fish > ~/.config/fish/completions/regard.fish", "for good"}}},
      {"man",
       {{"regard man train | man -l -", "read a page"},
        {"regard man --into ~/.local/share/man/man1", "write all pages"}}},
  };
  return commands;
}

}  // namespace

std::vector<Example> examples_of(std::string_view words) {
  const auto found = std::ranges::find(table(), words, &Command::words);
  return found == table().end() ? std::vector<Example>() : found->examples;
}

std::string examples_text(const std::vector<Example>& examples) {
  if (examples.empty()) return "";
  std::string text = "Examples:\n";
  for (const auto& [command, what] : examples) {
    text += "  " + command + "\n      " + what + "\n";
  }
  text.pop_back();
  return text;
}

}  // namespace regard
