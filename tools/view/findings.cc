#include "tools/view/findings.h"

#include <algorithm>
#include <utility>

namespace imgpack::tools {

std::string_view to_string(Suspicion suspicion) noexcept {
  constexpr std::array<std::string_view, kSuspicions> kNames = {"damaged", "incomplete_jpeg", "not_decoded",
                                                                "tiny",    "extreme_aspect",  "gray"};
  return kNames[static_cast<std::size_t>(suspicion)];
}

void Findings::keep(Kind& kind, Finding finding) {
  kind.kept.push_back(std::move(finding));
  std::ranges::push_heap(kind.kept, {}, &Finding::record);
  if (kind.kept.size() <= most_kept_) return;
  std::ranges::pop_heap(kind.kept, {}, &Finding::record);
  kind.kept.pop_back();
}

void Findings::add(Suspicion suspicion, Finding finding) {
  Kind& kind = of(suspicion);
  ++kind.count;
  keep(kind, std::move(finding));
}

void Findings::merge(Findings&& other) {
  for (std::size_t i = 0; i < kSuspicions; ++i) {
    kinds_[i].count += other.kinds_[i].count;
    for (Finding& finding : other.kinds_[i].kept) keep(kinds_[i], std::move(finding));
  }
}

void Findings::clear(Suspicion suspicion) {
  of(suspicion) = {};
}

std::vector<Finding> Findings::kept(Suspicion suspicion) const {
  std::vector<Finding> sorted = of(suspicion).kept;
  std::ranges::sort(sorted, {}, &Finding::record);
  return sorted;
}

}  // namespace imgpack::tools
