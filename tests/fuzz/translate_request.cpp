// The body of POST /translate: serve/translate_request.h.
#include "serve/translate_request.h"

#include "serve/http_message.h"
#include "tests/fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace regard;
  const RequestLimits limits{.max_lines = 10, .max_characters = 100, .max_beam_size = 7};
  fuzz::disable_warnings();
  try {
    const auto request = parse_translate_request(std::string(fuzz::as_text(data, size)), limits);
    fuzz::check(request.lines.size() <= limits.max_lines, "the lines are within the limit");
    for (const auto& line : request.lines) {
      fuzz::check(line.size() <= limits.max_characters, "each line is within the limit");
      fuzz::check(line.find('\n') == std::string::npos, "no line has a line break");
    }
    const auto search = search_of(request, SearchOptions(), limits);
    fuzz::check(search.beam_size <= limits.max_beam_size && search.samples <= limits.max_beam_size,
                "the search is within the limit");
    fuzz::check(request.n_best <= limits.max_beam_size, "the list is within the limit");
  } catch (const HttpError& error) {
    fuzz::check(error.status == 400 || error.status == 413, "an error has its status");
    fuzz::check(!error.message.empty(), "an error has a message");
    to_text(error_json(error.kind, error.message));
  }
  return 0;
}
