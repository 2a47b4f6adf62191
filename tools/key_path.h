// Which keys can be file names below a folder.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace imgpack::tools {

/// A key as folders and a file name.
struct KeyPath {
  std::vector<std::string> folders;
  std::string name;
  std::string problem;  ///< not empty: the key is no safe file name, and why; the rest is then empty
};

/// Splits at '/'. Refused are: an empty key, a leading or trailing slash, empty, "." and ".." components, NUL bytes,
/// components above 255 bytes and keys above 4095 bytes (what Linux takes). A key that passes, opened component by
/// component without following links, cannot lead out of the folder it is opened in.
KeyPath split_key(std::string_view key);

}  // namespace imgpack::tools
