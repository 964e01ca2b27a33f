// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>
#include <string>
#include <variant>

namespace cudawarp {

// Why something could not be done, in words fit for a user: one sentence, no full stop, with the call or the
// value that is to blame.
struct Error {
  std::string words;
};

// Empty: done.
using Status = std::optional<Error>;

template <class T>
using Expected = std::variant<T, Error>;

template <class T>
const Error* error_of(const Expected<T>& e) {
  return std::get_if<Error>(&e);
}

}  // namespace cudawarp
