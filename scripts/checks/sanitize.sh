#!/usr/bin/env bash
# Builds with sanitizers and runs the tests: scripts/check.sh sanitize text|asan|tsan [--write] [-- ctest options…]
#   text  AddressSanitizer and UndefinedBehaviorSanitizer, the tests and fuzz corpora that need no LibTorch
#   asan  the same sanitizers, all tests
#   tsan  ThreadSanitizer, the tests with several threads: thread pool, translation queue, engine, library,
#         server, training and translating in several threads
# LibTorch itself is not built with sanitizers. tests/sanitizers/ lists the suppressions and their reasons.
set -euo pipefail

readonly usage_error=2

cd "$(dirname "${BASH_SOURCE[0]}")/../.."

targets=()
# The stand-in for a GPU already forbids access to its memory; a sanitizer would find nothing more.
excluded=gpu
case ${1-} in
  text)
    targets=(--target text_checks)
    # Tests of targets that were not built are listed as NAME_NOT_BUILT, and the programs of other
    # targets are missing, so only these are selected.
    tests=(-L 'unit|reference' -E NOT_BUILT)
    excluded+='|libtorch'
    ;;
  asan) tests=() ;;
  tsan) tests=(-R 'ThreadPool|ParallelFor|TranslationQueue|Engine|LibraryModel|TranslationApi|HttpServer|Serve|WordCache|Translate\.|SameAnswer|Train(Resume|Signals)?\.|Trainer|Packed') ;;
  *)
    sed -n '2,7s/^# //p' scripts/checks/sanitize.sh
    exit "$usage_error"
    ;;
esac
preset=$1
[[ $preset != text ]] || preset=asan
readonly preset
shift
write=false # a row of docs/reliability.md
if [[ ${1-} == --write ]]; then
  write=true
  shift
fi
[[ ${1-} != -- ]] || shift

cmake --preset "$preset" -DREGARD_WERROR="${REGARD_WERROR:-OFF}"
cmake --build --preset "$preset" --parallel "$(nproc)" "${targets[@]}"
readonly suppressions=$PWD/tests/sanitizers
# verify_asan_link_order: a preloaded library (failing_disk) comes before the sanitizer's.
# allocator_may_return_null: tests request more memory than there is and expect a refusal.
export ASAN_OPTIONS="verify_asan_link_order=0:allocator_may_return_null=1"
ASAN_OPTIONS+=":detect_stack_use_after_return=1"
export LSAN_OPTIONS="suppressions=$suppressions/leaks.txt:print_suppressions=0"
export UBSAN_OPTIONS="print_stacktrace=1:suppressions=$suppressions/undefined.txt"
export TSAN_OPTIONS="suppressions=$suppressions/threads.txt:halt_on_error=1:second_deadlock_stack=1"
TSAN_OPTIONS+=":allocator_may_return_null=1"
ctest --test-dir "build-$preset" --label-exclude "$excluded" --output-on-failure --parallel "$(nproc)" "${tests[@]}" "$@"
[[ $write == false ]] ||
  PYTHONPATH=scripts/modules python3 -c \
    'import pages, sys; pages.record_check("sanitize " + sys.argv[1], "passed")' "$preset"
