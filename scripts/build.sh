#!/usr/bin/env bash
# Configures and builds into build/, or into the folder REGARD_BUILD_FOLDER: scripts/build.sh [TARGET…]; without a
# TARGET, all targets. REGARD_WERROR=ON makes errors of warnings, as CI does.
set -euo pipefail

readonly megabytes_a_job=2000 # memory that the compiler needs for a group of sources that include LibTorch
readonly cmake_minimum=3.22   # as in CMakeLists.txt
readonly environment_error=6

cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf 'build: %s\n' "$*"; }

# Prints the number of jobs: one for each core, but no more than fit into memory.
jobs() {
  local cores available fitting
  cores=$(nproc)
  available=$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo)
  fitting=$((available / megabytes_a_job))
  if ((fitting < 1)); then
    say "found $available MB of free memory, and a compiler job takes up to $megabytes_a_job; close other programs" \
      "if it is killed" >&2
    fitting=1
  fi
  echo $((cores < fitting ? cores : fitting))
}

# Prints the expected work of making a file, in seconds on the machine where it was measured: precompiled headers,
# groups of sources with LibTorch, other sources, and links.
work_of() {
  case $1 in
    *.gch) echo 26 ;;
    *unity_regard_torch* | *unity_regard-torch* | *unity_torch_* | *process_group*) echo 18 ;;
    *unity_*) echo 12 ;;
    *.o) echo 3 ;;
    *) echo 1 ;;
  esac
}

# Prints the number of commands that make the targets from nothing, and their work.
all_work() {
  local commands=0 work=0 file
  while IFS= read -r file; do
    commands=$((commands + 1))
    work=$((work + $(work_of "$file")))
  done < <(ninja -C "$folder" -t commands "$@" | sed -E 's/.* -o ([^ ]+) .*/\1/')
  echo "$commands $work"
}

# Prints the steps of ninja from standard input, each with the time that is left.
show_steps() {
  local commands all total=0 left=0 known_steps=0 line steps seconds file remaining
  read -r commands all < <(all_work "$@")
  while IFS= read -r line; do
    if [[ $line =~ ^\[([0-9]+)/([0-9]+)\ ([0-9]+)\.[0-9]+s\]\ (.*) ]]; then
      steps=${BASH_REMATCH[2]} seconds=${BASH_REMATCH[3]} file=${BASH_REMATCH[4]##* }
      line="[${BASH_REMATCH[1]}/$steps] ${BASH_REMATCH[4]#Building CXX object }"
      if ((steps != known_steps)); then # the first steps are those of CMake
        known_steps=$steps
        total=$((all * (steps < commands ? steps : commands) / commands)) left=$total
      fi
      left=$((left - $(work_of "$file")))
      remaining=$((left > 0 && left < total ? seconds * left / (total - left) : 0))
      ((seconds < 20 || remaining < 20)) || line+="  (about $(((remaining + 59) / 60)) min left)"
    fi
    printf '%s\n' "$line"
  done
}

version=$(cmake --version 2>/dev/null | sed -n '1s/.* //p')
if [[ $(printf '%s\n' "$cmake_minimum" "${version:-0}" | sort -V | head -n 1) != "$cmake_minimum" ]]; then
  say "found CMake ${version:-nowhere}, expected $cmake_minimum or later; install it, for example by 'pip install cmake'" >&2
  exit "$environment_error"
fi

folder=${REGARD_BUILD_FOLDER:-build}
cmake --preset release -B "$folder" -DREGARD_WERROR="${REGARD_WERROR:-OFF}"
targets=("$@")
((${#targets[@]})) || targets=(all)
parallel=$(jobs)
NINJA_STATUS='[%f/%t %es] ' ninja -C "$folder" -j "$parallel" "${targets[@]}" | show_steps "${targets[@]}"
