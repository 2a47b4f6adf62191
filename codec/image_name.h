// What a file's name says about it, for walks through folders that cannot look into every file.
#pragma once

#include <string_view>

namespace imgpack {

/// Whether a file with that name claims to be an image (extensions that torchvision's ImageFolder takes, and a few
/// more, in any case). What it is, only its content shows.
bool has_image_name(std::string_view name) noexcept;

}  // namespace imgpack
