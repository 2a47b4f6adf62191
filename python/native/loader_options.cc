#include "python/native/loader_options.h"

#include <optional>
#include <vector>

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "imgpack/loader.h"
#include "python/native/choices.h"

namespace imgpack::python {

namespace nb = nanobind;

namespace {

template <class Value>
using Values = std::optional<nb::ndarray<const Value, nb::ndim<1>, nb::c_contig, nb::device::cpu>>;

template <class To, class From>
std::vector<To> vector_of(const Values<From>& values) {
  if (!values) return {};
  return {values->data(), values->data() + values->size()};
}

void make_share(DatasetShare* self, const Dataset& dataset, nb::str split, const Values<std::int64_t>& records,
                const Values<double>& class_weights, const Values<double>& record_weights, double proportion) {
  new (self) DatasetShare{.dataset = dataset,
                          .split = bytes_of(std::move(split)),
                          .records = vector_of<std::uint64_t>(records),
                          .class_weights = vector_of<double>(class_weights),
                          .record_weights = vector_of<double>(record_weights),
                          .proportion = proportion};
}

/// A property of the part `Sampling` of the options.
template <class Value>
void def_sampling(nb::class_<LoaderOptions>& options, const char* name, Value Sampling::*member) {
  options.def_prop_rw(
      name, [member](const LoaderOptions& self) { return self.sampling.*member; },
      [member](LoaderOptions& self, Value value) { self.sampling.*member = value; });
}

void bind_choices(nb::class_<LoaderOptions>& options) {
  def_choice(options, {"dtype", &dtype_from_name, DType::bf16}, &LoaderOptions::dtype);
  def_choice(options, {"layout", &layout_from_name, Layout::nhwc}, &LoaderOptions::layout);
  def_choice(options, {"last_batch", &last_batch_from_name, LastBatch::pad}, &LoaderOptions::last_batch);
  def_choice(options, {"transport", &transport_from_name, Transport::gds}, &LoaderOptions::transport);
  def_choice(options, {"read", &read_mode_from_name, ReadMode::unbuffered}, &LoaderOptions::read);
  options.def_prop_rw(
      "shuffle", [](const LoaderOptions& self) { return text(to_string(self.sampling.shuffle)); },
      [](LoaderOptions& self, nb::str name) {
        self.sampling.shuffle = Choices<Shuffle>{"shuffle", &shuffle_from_name, Shuffle::none}.parse(std::move(name));
      });
}

}  // namespace

void bind_loader_options(nb::module_& module) {
  nb::class_<DatasetShare>(module, "DatasetShare", "What is sampled of a dataset.")
      .def("__init__", &make_share, nb::arg("dataset"), nb::arg("split"), nb::arg("records").none(),
           nb::arg("class_weights").none(), nb::arg("record_weights").none(), nb::arg("proportion"));
  nb::class_<LoaderOptions> options(module, "LoaderOptions", "Options of a loader.");
  options.def(nb::init<>())
      .def_rw("batch_size", &LoaderOptions::batch_size)
      .def_rw("global_batch_size", &LoaderOptions::global_batch_size)
      .def_prop_rw(
          "device", [](const LoaderOptions& self) { return text(self.device); },
          [](LoaderOptions& self, nb::str name) { self.device = bytes_of(std::move(name)); })
      .def_prop_rw(
          "decode_device", [](const LoaderOptions& self) { return text(self.decode_device); },
          [](LoaderOptions& self, nb::str name) { self.decode_device = bytes_of(std::move(name)); })
      .def_rw("device_memory", &LoaderOptions::device_memory)
      .def_rw("registered_memory", &LoaderOptions::registered_memory)
      .def_rw("seed", &LoaderOptions::seed)
      .def_rw("rank", &LoaderOptions::rank)
      .def_rw("world_size", &LoaderOptions::world_size)
      .def_rw("local_ranks", &LoaderOptions::local_ranks)
      .def_rw("transform", &LoaderOptions::transform)
      .def_rw("classes", &LoaderOptions::classes)
      .def_rw("threads", &LoaderOptions::threads)
      .def_rw("prefetch_batches", &LoaderOptions::prefetch_batches)
      .def_rw("prefetch_next_epoch", &LoaderOptions::prefetch_next_epoch)
      .def_prop_rw(
          "skip_damage", [](const LoaderOptions& self) { return self.on_damage == OnDamage::skip; },
          [](LoaderOptions& self, bool skip) { self.on_damage = skip ? OnDamage::skip : OnDamage::stop; })
      .def_rw("verify_checksums", &LoaderOptions::verify_checksums)
      .def_rw("read_threads", &LoaderOptions::read_threads)
      .def_rw("max_pixels", &LoaderOptions::max_pixels);
  def_sampling(options, "block_records", &Sampling::block_records);
  def_sampling(options, "window_blocks", &Sampling::window_blocks);
  def_sampling(options, "samples_per_epoch", &Sampling::samples_per_epoch);
  bind_choices(options);
}

}  // namespace imgpack::python
