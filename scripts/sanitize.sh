#!/usr/bin/env bash
# Builds with sanitizers and runs the tests: scripts/sanitize.sh asan|tsan [-- ctest options…]
#   asan  AddressSanitizer and UndefinedBehaviorSanitizer, all tests
#   tsan  ThreadSanitizer, the tests in which threads meet: workers, reading ahead, training and
#         translating in several threads
# LibTorch itself is not built with them; what is suppressed, and why, stands in tests/sanitizers/.
set -euo pipefail

readonly usage_error=2

cd "$(dirname "${BASH_SOURCE[0]}")/.."

case ${1-} in
  asan) tests=() ;;
  tsan) tests=(-R 'Workers|Translate\.|SameAnswer|Train(Resume|Signals)?\.|Trainer|Packed') ;;
  *)
    sed -n '2,6s/^# //p' scripts/sanitize.sh
    exit "$usage_error"
    ;;
esac
readonly preset=$1
shift
[[ ${1-} != -- ]] || shift

cmake --preset "$preset"
cmake --build --preset "$preset" --parallel "$(nproc)"
readonly suppressions=$PWD/tests/sanitizers
# A preloaded library (failing_disk) comes before the sanitizer's own. Tests ask for more memory than
# there is, and want to be refused it.
export ASAN_OPTIONS="verify_asan_link_order=0:allocator_may_return_null=1"
ASAN_OPTIONS+=":detect_stack_use_after_return=1"
export LSAN_OPTIONS="suppressions=$suppressions/leaks.txt:print_suppressions=0"
export UBSAN_OPTIONS="print_stacktrace=1:suppressions=$suppressions/undefined.txt"
export TSAN_OPTIONS="suppressions=$suppressions/threads.txt:halt_on_error=1:second_deadlock_stack=1"
TSAN_OPTIONS+=":allocator_may_return_null=1"
# The GPU's stand-in has memory that nobody may touch: a sanitizer would not see more than that.
ctest --test-dir "build-$preset" --label-exclude gpu --output-on-failure --parallel "$(nproc)" "${tests[@]}" "$@"
