// Requests, responses and errors of the HTTP server, and the checks of a request's head that the
// HTTP parser leaves to its caller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"

namespace regard {

// An error response: {"error": {"kind": …, "message": …}}.
class HttpError : public std::exception {
 public:
  // `retry_after` seconds are sent as Retry-After if they are not 0.
  HttpError(int error_status, std::string error_kind, std::string error_message,
            std::int64_t retry_after_seconds = 0)
      : status(error_status),
        kind(std::move(error_kind)),
        message(std::move(error_message)),
        retry_after(retry_after_seconds) {}
  const char* what() const noexcept override { return message.c_str(); }

  int status;
  std::string kind;
  std::string message;
  std::int64_t retry_after;
};

// Returns {"error": {"kind": …, "message": …}}, with the message cut to 1,000 bytes.
Json error_json(const std::string& kind, const std::string& message);

using HttpFields = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
  std::string method;
  std::string path;  // without the query
  HttpFields fields;
  bool is_http_1_0 = false;
  std::string body;
  std::string remote_address;

  // Returns the value of a field, "" if there is none. The case of `name` does not matter.
  std::string field(std::string_view name) const;
  std::size_t count(std::string_view name) const;
};

struct HttpResponse {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  HttpFields fields = {};
};

// Returns the response that reports an error.
HttpResponse error_response(const HttpError& error);

// Returns the head of a response, with the empty line. `fields` are added after those of the
// response.
std::string head_of(const HttpResponse& response, const HttpFields& fields);

// Compares without regard to the case of ASCII letters.
bool equal_ignoring_case(std::string_view a, std::string_view b);

// Throws HttpError 400 if the length of the body is not given in exactly one way: by one
// Content-Length of digits, or by `Transfer-Encoding: chunked` in HTTP/1.1 (RFC 9112, section 6).
// Anything else could be understood differently by a proxy, which would then pass the rest of the
// body on as a request of its own.
void check_framing(const HttpRequest& request);

// Returns the host of "host", "host:port" or "[address]:port", in lower case and without brackets;
// nullopt if it is none of these.
std::optional<std::string> host_of_authority(std::string_view authority);

// True if the host is an address in numbers.
bool is_address(const std::string& host);

// The host names that requests may use, and the origins whose pages may send requests.
struct AllowedHosts {
  // Beside `localhost` and all addresses in numbers; "*" allows any.
  std::vector<std::string> names;
  // Origins of other sites whose pages may send requests, as "https://example.org"; "*" allows any.
  std::vector<std::string> origins;
};

// Throws HttpError 421 if the field Host is missing, repeated, or not an allowed name: a page of
// another site whose name leads to this machine (DNS rebinding) cannot read an answer. Throws
// HttpError 403 if the field Origin names neither this server nor an allowed origin.
void check_host(const HttpRequest& request, const AllowedHosts& allowed);

// Returns the fields that allow the page of an allowed other origin to read the response; none for
// other requests.
HttpFields cross_origin_fields(const HttpRequest& request, const AllowedHosts& allowed);

}  // namespace regard
