#include "imgpack/loader_state.h"

#include <charconv>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "imgpack/error.h"

namespace imgpack {

namespace {

constexpr int kVersion = 1;

[[noreturn]] void refuse(std::string message) {
  throw Error(ErrorCode::invalid_argument, "this is no state of a loader: " + message);
}

std::uint64_t number(const nlohmann::json& state, const char* name) {
  const auto found = state.find(name);
  if (found == state.end() || !found->is_number_unsigned()) refuse(fmt::format("it has no number {}", name));
  return found->get<std::uint64_t>();
}

std::uint64_t hexadecimal(const nlohmann::json& state, const char* name) {
  const auto found = state.find(name);
  if (found == state.end() || !found->is_string()) refuse(fmt::format("it has no text {}", name));
  const auto& text = found->get_ref<const std::string&>();
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  if (text.size() != 18 || !text.starts_with("0x") ||
      std::from_chars(text.data() + 2, end, value, 16) != std::from_chars_result{end, std::errc{}}) {
    refuse(fmt::format("its {} is not 0x and 16 hexadecimal digits", name));
  }
  return value;
}

}  // namespace

std::string LoaderState::to_json() const {
  return fmt::format(R"({{"version": {}, "epoch": {}, "samples": {}, "seed": "0x{:016x}", "order": "0x{:016x}"}})",
                     kVersion, epoch, samples, seed, order);
}

LoaderState LoaderState::from_json(std::string_view text) {
  const nlohmann::json state = nlohmann::json::parse(text, nullptr, false);
  if (!state.is_object()) refuse("it is no JSON object");
  if (const std::uint64_t version = number(state, "version"); version != kVersion) {
    refuse(fmt::format("its version is {}, not {}", version, kVersion));
  }
  return {.epoch = number(state, "epoch"),
          .samples = number(state, "samples"),
          .seed = hexadecimal(state, "seed"),
          .order = hexadecimal(state, "order")};
}

}  // namespace imgpack
