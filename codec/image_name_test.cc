#include "codec/image_name.h"

#include <doctest/doctest.h>

namespace imgpack {

TEST_CASE("a name claims to be an image by its extension, in any case") {
  for (const char* name : {"a.jpg", "a.JPEG", "n01/a.b.Png", "x.tiff", ".webp", "a.DIB"}) {
    CAPTURE(name);
    CHECK(has_image_name(name));
  }
  for (const char* name : {"", "jpg", "a.jpg.txt", "a.", "a.rec", "a.jp", "a.jpegg", "jpg/a"}) {
    CAPTURE(name);
    CHECK_FALSE(has_image_name(name));
  }
}

}  // namespace imgpack
