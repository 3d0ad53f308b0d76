#!/usr/bin/env bash
# Installs what regard is built with, once: Debian packages, and LibTorch from the PyTorch wheel
# in .venv (Python only fetches it; regard never runs Python). A second run changes nothing and
# needs no root. A LibTorch of your own is taken when CMAKE_PREFIX_PATH leads to it.
set -euo pipefail

readonly torch_version=2.13.0
readonly environment_error=6
readonly packages=(
  g++ cmake ninja-build pkg-config ccache
  libcli11-dev libspdlog-dev libfmt-dev libyaml-cpp-dev nlohmann-json3-dev
  libsentencepiece-dev libutf8proc-dev libssl-dev zlib1g-dev libgtest-dev libgmock-dev
)
readonly wheel_packages=(python3 python3-venv ca-certificates)

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly root

usage() {
  cat <<USAGE
usage: scripts/setup.sh [--no-packages] [--no-torch] [pip options…]

  --no-packages  leave the system packages as they are (you have installed them)
  --no-torch     do not fetch LibTorch (you give it to CMake yourself)
  pip options    passed to 'pip install torch==$torch_version', for example
                 --index-url <the PyTorch index of CPU wheels> on a machine without a GPU

For Debian 12, Ubuntu 24.04 and later.
USAGE
}

say() { printf 'setup: %s\n' "$*"; }

fail() {
  printf 'setup: %s\n' "$@" >&2
  exit "$environment_error"
}

is_installed() {
  [[ $(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

install_packages() {
  local wanted=("$@") missing=() as_root=() package
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    fail "this system has no apt; install what matches these Debian packages: ${wanted[*]}" \
      "then run scripts/setup.sh --no-packages"
  fi
  for package in "${wanted[@]}"; do
    is_installed "$package" || missing+=("$package")
  done
  if ((${#missing[@]} == 0)); then
    say "all ${#wanted[@]} system packages are installed"
    return
  fi
  if ((EUID != 0)); then
    as_root=(sudo)
    command -v sudo >/dev/null ||
      fail "packages are missing, and installing them takes root (there is no sudo); as root run" \
        "  apt-get install ${missing[*]}"
  fi
  say "installing ${missing[*]}"
  # A third party's list that cannot be read need not stop us: apt-get install tells.
  "${as_root[@]}" apt-get update -qq ||
    say "apt-get update had trouble; going on with the lists there are"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" </dev/null ||
    fail "apt-get could not install them all; solve what it says above, then run this again"
}

# Prints the LibTorch folder that an entry of CMAKE_PREFIX_PATH leads to, if any. An entry is
# LibTorch's own folder or, as PyTorch prints it, the share/cmake in it.
own_libtorch() {
  local entries entry
  IFS=':;' read -r -a entries <<<"${CMAKE_PREFIX_PATH:-}"
  for entry in "${entries[@]}"; do
    [[ $entry ]] || continue
    if [[ -f $entry/share/cmake/Torch/TorchConfig.cmake ]]; then
      printf '%s\n' "$entry"
      return
    elif [[ -f $entry/Torch/TorchConfig.cmake ]]; then
      (cd "$entry/../.." && pwd)
      return
    fi
  done
}

has_wheel() {
  local site
  for site in "$root"/.venv/lib/python3*/site-packages; do
    # pip writes the dist-info last, so a broken-off install does not count.
    compgen -G "$site/torch-$torch_version*.dist-info" >/dev/null &&
      [[ -f $site/torch/share/cmake/Torch/TorchConfig.cmake ]] && return
  done
  return 1
}

install_wheel() {
  say "installing torch $torch_version into .venv"
  [[ -x $root/.venv/bin/pip ]] || python3 -m venv "$root/.venv" ||
    fail "python3 cannot make .venv; is python3-venv installed?"
  "$root/.venv/bin/pip" install "torch==$torch_version" "$@" ||
    fail "pip could not install torch $torch_version; scripts/setup.sh passes its options to pip" \
      "(an index, a proxy), or set CMAKE_PREFIX_PATH to a LibTorch that you have"
}

main() {
  local with_packages=true with_torch=true own
  while (($# > 0)); do
    case $1 in
      -h | --help) usage && exit 0 ;;
      --no-packages) with_packages=false ;;
      --no-torch) with_torch=false ;;
      *) break ;;
    esac
    shift
  done

  local wanted=("${packages[@]}")
  own=$(own_libtorch)
  if [[ $with_torch == true && -z $own ]]; then
    wanted+=("${wheel_packages[@]}")
  fi
  if [[ $with_packages == true ]]; then
    install_packages "${wanted[@]}"
  fi
  if [[ $with_torch == false ]]; then
    say "leaving LibTorch to you"
  elif [[ $own ]]; then
    say "taking LibTorch from CMAKE_PREFIX_PATH: $own"
  elif has_wheel; then
    say "torch $torch_version is in .venv"
  else
    install_wheel "$@"
  fi
}

main "$@"
