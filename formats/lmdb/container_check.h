// Everything that can be checked of an LMDB file of ours besides its payloads' checksums.
#pragma once

#include <functional>

#include "formats/lmdb/container.h"
#include "imgpack/store.h"

namespace imgpack::lmdb {

/// Walks all trees and reports what breaks the format, contradicts itself or is not zero where it has to be; README.md
/// lists what it does not find. `release` is called now and then, when no pages of the file need to stay in memory.
/// Memory: two bits a page of the file at most.
void check_container(const Container& container, const std::function<void()>& release, DamageSink& sink);

}  // namespace imgpack::lmdb
