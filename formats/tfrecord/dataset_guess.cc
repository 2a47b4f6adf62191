#include "formats/tfrecord/dataset_guess.h"

#include <algorithm>
#include <utility>

#include "formats/text.h"

namespace imgpack {
namespace {

bool is_name(std::string_view text) noexcept {
  return text.size() <= ClassGuess::kMaxNameBytes && is_utf8(text);
}

}  // namespace

ClassGuess::ClassGuess(std::vector<ClassInfo> known) : classes_(std::move(known)) {}

void ClassGuess::add(std::int64_t label, std::string_view text, std::string_view synset) {
  if (given_up_ || label < 0) return;
  labels_ = std::max(labels_, static_cast<std::size_t>(label) + 1);
  const std::string_view name = synset.empty() ? text : synset;
  const std::string_view words = synset.empty() ? std::string_view() : text;
  if (name.empty()) return;
  const auto index = static_cast<std::size_t>(label);
  if (index >= std::max(kMaxLabels, classes_.size()) || !is_name(name) || !is_name(words)) return give_up();
  if (index >= classes_.size()) classes_.resize(index + 1);
  ClassInfo& known = classes_[index];
  if (known.name.empty()) {
    text_bytes_ += name.size() + words.size();
    if (text_bytes_ > kMaxTextBytes) return give_up();
    known = {.name = std::string(name), .words = std::string(words)};
  } else if (known.name != name) {
    give_up();
  }
}

std::vector<ClassInfo> ClassGuess::take() {
  if (classes_.empty()) return {};
  if (labels_ > std::max(kMaxLabels, classes_.size())) return {};
  classes_.resize(std::max(labels_, classes_.size()));
  for (std::size_t i = 0; i < classes_.size(); ++i)
    if (classes_[i].name.empty()) classes_[i].name = std::to_string(i);
  return std::exchange(classes_, {});
}

void ClassGuess::give_up() {
  given_up_ = true;
  classes_ = {};
}

SplitGuess::SplitGuess(const std::vector<Split>& known) {
  for (const Split& split : known) number_of(split.name);
}

std::uint32_t SplitGuess::number_of(std::string_view name) {
  return numbers_.try_emplace(std::string(name), static_cast<std::uint32_t>(numbers_.size())).first->second;
}

std::uint32_t SplitGuess::add(std::uint64_t record, std::optional<std::string_view> name) {
  const bool continues = record == 0 || (!ranges_.empty() && ranges_.back().end == record);
  if (!name || !continues || given_up_) {
    given_up_ = given_up_ || !ranges_.empty() || name;
    return 0;
  }
  if (!ranges_.empty() && ranges_.back().name == *name) {
    ranges_.back().end = record + 1;
    return number_of(*name);
  }
  if (ranges_.size() == kMaxRanges || !is_name(*name)) {
    given_up_ = true;
    return 0;
  }
  ranges_.push_back({.name = std::string(*name), .begin = record, .end = record + 1});
  return number_of(*name);
}

std::vector<Split> SplitGuess::take() {
  return given_up_ ? std::vector<Split>() : std::exchange(ranges_, {});
}

}  // namespace imgpack
