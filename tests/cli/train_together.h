// Tests that run `regard train` in several processes.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "tests/cli/train.h"
#include "tests/training/free_port.h"

namespace regard {

class TrainTogether : public Train {
 protected:
  void SetUp() override {
    if (run({"--version"}).out.find("without Gloo") != std::string::npos) {
      GTEST_SKIP() << "this build has no Gloo";
    }
  }

  struct Process {
    int code = -1;
    std::string out;
    std::string err;
  };

  // Trains with `size` processes of one thread. `of_rank` has more arguments for some ranks.
  // `meanwhile` is a shell script that runs beside them; the ids of the processes are in the array
  // pids. All processes are killed after 100 seconds.
  std::vector<Process> train_together(std::size_t size, const std::vector<std::string>& arguments,
                                      const std::map<std::size_t, std::string>& of_rank = {},
                                      const std::string& meanwhile = "") const {
    std::string command = " timeout -s KILL 100 " + std::string(REGARD_BINARY_DIR) +
                          "/regard train -c " + config_.string() + " threads=1";
    for (const auto& argument : arguments) command += " " + argument;
    const auto outputs = folder_ / "process";
    std::string script = "export WORLD_SIZE=" + std::to_string(size) +
                         " MASTER_ADDR=127.0.0.1 MASTER_PORT=" + std::to_string(free_port()) +
                         "\npids=()\n";
    for (std::size_t rank = 0; rank < size; ++rank) {
      const auto name = outputs.string() + std::to_string(rank);
      const auto more = of_rank.find(rank);
      script.append("RANK=").append(std::to_string(rank)).append(" ").append(environment_);
      script.append(" env --default-signal=INT,HUP").append(command).append(" ");
      script.append(more == of_rank.end() ? "" : more->second);
      script.append(" >").append(name).append(".out 2>").append(name).append(
          ".err &\npids+=($!)\n");
    }
    script += meanwhile + "\nfor pid in ${pids[@]}; do wait $pid; echo $?; done\n";
    write_text(folder_ / "script", script);
    write_text(outputs.string() + "0.err", "");  // of an earlier call
    const auto codes = (folder_ / "codes").string();
    const int status =
        std::system(("bash " + (folder_ / "script").string() + " >" + codes).c_str());
    EXPECT_EQ(status, 0);
    const auto lines = lines_of(read_text(codes));
    std::vector<Process> processes;
    for (std::size_t rank = 0; rank < size; ++rank) {
      const auto name = outputs.string() + std::to_string(rank);
      processes.push_back(
          {std::stoi(lines.at(rank)), read_text(name + ".out"), read_text(name + ".err")});
    }
    return processes;
  }

  // A script that waits until process 0 has reported a step, and finds regard below `timeout`.
  std::string when_it_trains(const std::string& then) const {
    return "until grep -q '  step ' " + (folder_ / "process0.err").string() +
           " 2>/dev/null || ! kill -0 ${pids[0]}; do sleep 0.01; done\n"
           "regards=(); for pid in ${pids[@]}; do regards+=($(pgrep -P $pid)); done\n" +
           then;
  }

  std::string environment_;  // of the processes, as in a shell: "A=1 B=2"
};

}  // namespace regard
