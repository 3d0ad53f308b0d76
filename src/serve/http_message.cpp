#include "serve/http_message.h"

#include <arpa/inet.h>
#include <fmt/chrono.h>

#include <boost/beast/http/status.hpp>

#include <algorithm>
#include <array>
#include <ctime>

#include "base/error.h"
#include "base/strings.h"
#include "text/unicode.h"

namespace regard {
namespace {

bool is_all_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_digit_byte);
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::any_of(names,
                             [&](const auto& each) { return equal_ignoring_case(each, name); });
}
bool is_allowed(const std::vector<std::string>& names, std::string_view name) {
  return contains(names, name) || contains(names, "*");
}

// Returns the time of now as in "Sun, 06 Nov 1994 08:49:37 GMT".
std::string date_now() {
  return fmt::format("{:%a, %d %b %Y %H:%M:%S GMT}", fmt::gmtime(std::time(nullptr)));
}

}  // namespace

bool is_address(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  return ::inet_pton(AF_INET, host.c_str(), bytes.data()) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1;
}

Json error_json(const std::string& kind, const std::string& message) {
  constexpr std::size_t longest = 1000;  // a message may repeat what the client sent
  const auto text = message.size() <= longest ? message : message.substr(0, longest) + "…";
  return {{"error", {{"kind", kind}, {"message", text}}}};
}

std::string HttpRequest::field(std::string_view name) const {
  for (const auto& [key, value] : fields) {
    if (equal_ignoring_case(key, name)) return value;
  }
  return "";
}

std::size_t HttpRequest::count(std::string_view name) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      fields, [&](const auto& field) { return equal_ignoring_case(field.first, name); }));
}

HttpResponse error_response(const HttpError& error) {
  HttpResponse response{.status = error.status,
                        .body = to_text(error_json(error.kind, error.message))};
  if (error.status == 401) response.fields.emplace_back("WWW-Authenticate", "Bearer");
  if (error.retry_after > 0) {
    response.fields.emplace_back("Retry-After", std::to_string(error.retry_after));
  }
  return response;
}

std::string head_of(const HttpResponse& response, const HttpFields& fields) {
  namespace http = boost::beast::http;
  const auto status = http::int_to_status(static_cast<unsigned>(response.status));
  auto head = fmt::format("HTTP/1.1 {} {}\r\nDate: {}\r\n", response.status,
                          std::string(http::obsolete_reason(status)), date_now());
  if (!response.type.empty()) head += "Content-Type: " + response.type + "\r\n";
  for (const auto* list : {&response.fields, &fields}) {
    for (const auto& [key, value] : *list) {
      head.append(key).append(": ").append(value).append("\r\n");
    }
  }
  return head + "\r\n";
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return lower_ascii(a) == lower_ascii(b);
}

void check_framing(const HttpRequest& request) {
  const auto reject = [](const std::string& message) {
    throw HttpError(400, "bad_request", message);
  };
  const auto lengths = request.count("Content-Length");
  const auto encodings = request.count("Transfer-Encoding");
  if (lengths + encodings > 1) {
    reject(
        "found several fields Content-Length or Transfer-Encoding, expected at most one of them");
  }
  if (lengths == 1 && !is_all_digits(request.field("Content-Length"))) {
    reject(fmt::format("Content-Length: found `{}`, expected a number of bytes",
                       excerpt(request.field("Content-Length"))));
  }
  if (encodings == 0) return;
  if (request.is_http_1_0) reject("Transfer-Encoding: found one in HTTP/1.0, expected none");
  if (!equal_ignoring_case(request.field("Transfer-Encoding"), "chunked")) {
    reject(fmt::format("Transfer-Encoding: found `{}`, expected chunked",
                       excerpt(request.field("Transfer-Encoding"))));
  }
}

std::optional<std::string> host_of_authority(std::string_view authority) {
  std::string_view host = authority;
  std::string_view port;
  if (authority.starts_with('[')) {
    const auto end = authority.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    host = authority.substr(1, end - 1);
    if (host.find(':') == std::string_view::npos) return std::nullopt;
    port = authority.substr(end + 1);
  } else if (const auto colon = authority.find(':'); colon != std::string_view::npos) {
    host = authority.substr(0, colon);
    port = authority.substr(colon);
  }
  if (host.empty() ||
      (!port.empty() && port != ":" && (port[0] != ':' || !is_all_digits(port.substr(1))))) {
    return std::nullopt;
  }
  const auto is_of_a_name = [](char c) {
    return (c >= 'a' && c <= 'z') || is_digit_byte(c) || c == '-' || c == '.' || c == '_' ||
           c == ':';
  };
  auto name = lower_ascii(host);
  if (!std::ranges::all_of(name, is_of_a_name)) return std::nullopt;
  return name;
}

void check_host(const HttpRequest& request, const AllowedHosts& allowed) {
  const auto authority = request.field("Host");
  const auto host = host_of_authority(authority);
  if (request.count("Host") != 1 || !host) {
    // HTTP/1.0 does not have the field.
    if (request.is_http_1_0 && request.count("Host") == 0 && request.count("Origin") == 0) return;
    throw HttpError(400, "bad_request",
                    fmt::format("Host: found {}, expected the name of this server once",
                                authority.empty() ? "none" : "`" + excerpt(authority) + "`"));
  }
  if (*host != "localhost" && !is_address(*host) && !is_allowed(allowed.names, *host)) {
    throw HttpError(421, "misdirected",
                    fmt::format("Host: found `{}`, expected localhost, an address, or a "
                                "--host-name of the server",
                                excerpt(authority)));
  }
  if (request.count("Origin") == 0) return;
  const auto origin = request.field("Origin");
  const auto scheme = origin.find("://");
  if (scheme != std::string::npos) {
    const auto site = origin.substr(scheme + 3);
    if (equal_ignoring_case(site, authority)) return;
    // A proxy may have replaced Host.
    const auto name = host_of_authority(site);
    if (name && contains(allowed.names, *name)) return;
  }
  if (is_allowed(allowed.origins, origin)) return;
  throw HttpError(403, "forbidden",
                  fmt::format("Origin: found `{}`, expected this server or an --allow-origin",
                              excerpt(origin)));
}

HttpFields cross_origin_fields(const HttpRequest& request, const AllowedHosts& allowed) {
  const auto origin = request.field("Origin");
  if (origin.empty() || !is_allowed(allowed.origins, origin)) return {};
  return {{"Access-Control-Allow-Origin", origin}, {"Vary", "Origin"}};
}

}  // namespace regard
