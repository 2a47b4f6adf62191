#include "tools/key_path.h"

#include <climits>

#include <fmt/format.h>

namespace imgpack::tools {

namespace {

constexpr std::size_t kMaxPathBytes = PATH_MAX - 1;

std::string problem_of_key(std::string_view key) {
  if (key.empty()) return "the key is empty";
  if (key.size() > kMaxPathBytes) return fmt::format("the key is too long for a file name ({} bytes)", key.size());
  if (key.find('\0') != std::string_view::npos) return "the key holds a NUL byte";
  if (key.front() == '/') return "the key is an absolute path";
  return {};
}

std::string problem_of_component(std::string_view component) {
  if (component.empty()) return "the key has an empty component";
  if (component == "." || component == "..") return fmt::format("the key has a component '{}'", component);
  if (component.size() > NAME_MAX) {
    return fmt::format("the key has a component too long for a file name ({} bytes)", component.size());
  }
  return {};
}

}  // namespace

KeyPath split_key(std::string_view key) {
  KeyPath path;
  path.problem = problem_of_key(key);
  std::size_t begin = 0;
  while (path.problem.empty()) {
    const std::size_t slash = key.find('/', begin);
    const std::string_view component = key.substr(begin, slash == std::string_view::npos ? slash : slash - begin);
    path.problem = problem_of_component(component);
    if (!path.problem.empty()) break;
    if (slash == std::string_view::npos) {
      path.name = component;
      return path;
    }
    path.folders.emplace_back(component);
    begin = slash + 1;
  }
  path.folders.clear();
  return path;
}

}  // namespace imgpack::tools
