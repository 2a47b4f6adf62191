// A batch, and views of its memory that keep it alive: for DLPack, and for Python's buffer protocol.
#include "imgpack/batch.h"

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include "python/native/bindings.h"
#include "python/native/text.h"

namespace imgpack::python {

namespace nb = nanobind;

namespace {

using View = nb::ndarray<nb::array_api>;

nb::dlpack::dtype dlpack_type(DType dtype) {
  switch (dtype) {
    case DType::u8:
      return nb::dtype<std::uint8_t>();
    case DType::f32:
      return nb::dtype<float>();
    case DType::f16:
      return {static_cast<std::uint8_t>(nb::dlpack::dtype_code::Float), 16, 1};
    case DType::bf16:
      break;
  }
  return {static_cast<std::uint8_t>(nb::dlpack::dtype_code::Bfloat), 16, 1};
}

nb::capsule owner_of(const Batch& batch) {
  using Owner = std::shared_ptr<const void>;
  auto owner = std::make_unique<Owner>(batch.owner());
  nb::capsule capsule(owner.get(), [](void* pointer) noexcept { delete static_cast<Owner*>(pointer); });
  owner.release();
  return capsule;
}

/// Of memory that is on `device`.
View view(const Batch& batch, const Device& device, void* data, std::span<const std::size_t> shape,
          nb::dlpack::dtype type, const std::int64_t* strides = nullptr) {
  return View(data, shape.size(), shape.data(), owner_of(batch), strides, type,
              device.is_cuda() ? nb::device::cuda::value : nb::device::cpu::value, device.index);
}

View images(const Batch& batch) {
  const std::array<std::int64_t, 4> strides = batch.strides();
  std::array<std::size_t, 4> shape{};
  for (std::size_t i = 0; i < shape.size(); ++i) shape[i] = static_cast<std::size_t>(batch.shape()[i]);
  return view(batch, batch.device(), batch.images().data(), shape, dlpack_type(batch.dtype()), strides.data());
}

/// Values of the batch as they are in memory, under a type of the same size.
template <class As, class Value>
View column(const Batch& batch, const Device& device, std::span<Value> values) {
  static_assert(sizeof(As) == sizeof(Value));
  const std::size_t size = values.size();
  void* const data = const_cast<std::remove_const_t<Value>*>(values.data());
  return view(batch, device, data, std::span(&size, 1), nb::dtype<As>());
}

std::optional<View> soft_labels(const Batch& batch) {
  if (batch.soft_classes() == 0) return std::nullopt;
  const std::array<std::size_t, 2> shape = {batch.size(), batch.soft_classes()};
  return view(batch, batch.device(), batch.device_soft_labels().data(), shape, nb::dtype<float>());
}

}  // namespace

void bind_batch(nb::module_& module) {
  nb::class_<Batch>(module, "Batch", "A batch whose arrays are views of one memory, which they keep alive.")
      .def("__len__", &Batch::size)
      .def("images", &images, "[N, 3, H, W], whatever lies next to what in memory.")
      .def(
          "labels", [](const Batch& self) { return column<std::int64_t>(self, self.device(), self.device_labels()); },
          "int64 [N].")
      .def("soft_labels", &soft_labels, "float32 [N, classes], or None.")
      .def(
          "mask", [](const Batch& self) { return column<std::uint8_t>(self, self.device(), self.device_mask()); },
          "uint8 [N], 0 or 1.")
      .def(
          "records", [](const Batch& self) { return column<std::int64_t>(self, Device{}, self.records()); },
          "int64 [N], in host memory.")
      .def(
          "datasets", [](const Batch& self) { return column<std::int32_t>(self, Device{}, self.datasets()); },
          "int32 [N], in host memory.")
      .def(
          "use_on",
          [](const Batch& self, std::uintptr_t stream) {
            self.use_on(reinterpret_cast<void*>(stream));  // NOLINT(performance-no-int-to-ptr): CUDA's handle
          },
          nb::arg("stream"), "Notes that a CUDA stream, given by its address, uses the batch.")
      .def_prop_ro("device", [](const Batch& self) { return text(to_string(self.device())); })
      .def_prop_ro("dtype", [](const Batch& self) { return text(to_string(self.dtype())); })
      .def_prop_ro("epoch", &Batch::epoch)
      .def_prop_ro("step", &Batch::step)
      .def_prop_ro("skipped", &Batch::skipped)
      .def(
          "state", [](const Batch& self) { return text(self.state().to_json()); }, "As JSON.");
}

}  // namespace imgpack::python
