// A pretend CUDA device for CPU builds of torch. Tensors on it live in ordinary memory,
// but their device is "cuda:0" or "cuda:1", and every operator is computed by its CPU
// kernel on aliases of that memory. As on a real one, mixing devices raises, and
// operators whose result the host needs are waits.
#include "memory.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/library.h>

#include <set>

namespace pretend {
using at::Tensor;

// ------------------------------------------------------------------------- aliases
bool on_device(const Tensor& t) { return t.defined() && t.device().type() == kDevice; }

void check_float64(at::ScalarType type) {
  if (g_forbids_float64)
    TORCH_CHECK_TYPE(type != at::kDouble, "Cannot convert a MPS Tensor to float64 dtype as the MPS framework ",
                     "doesn't support float64. Please use float32 instead.");
}

void drop_storage(void* kept) { delete static_cast<c10::Storage*>(kept); }

/// A tensor over the same memory, on another device.
Tensor alias(const Tensor& t, Device device, c10::DispatchKey key) {
  TORCH_CHECK(t.layout() == at::kStrided, "pretend device: only dense tensors, got ", t.layout());
  const auto& storage = t.storage();
  c10::DataPtr data(storage.mutable_data(), new c10::Storage(storage), &drop_storage, device);
  c10::Allocator* own = device.is_cpu() ? c10::GetCPUAllocator() : static_cast<c10::Allocator*>(&g_memory);
  c10::Storage shared(c10::Storage::use_byte_size_t(), storage.nbytes(), std::move(data), own, /*resizable=*/true);
  auto out = at::detail::make_tensor<at::TensorImpl>(std::move(shared), c10::DispatchKeySet(key), t.dtype());
  auto* impl = out.unsafeGetTensorImpl();
  impl->set_sizes_and_strides(t.sizes(), t.strides(), t.storage_offset());
  if (t.unsafeGetTensorImpl()->is_wrapped_number()) impl->set_wrapped_number(true);
  return out;
}
Tensor to_host(const Tensor& t) { return on_device(t) ? alias(t, Device(at::kCPU), c10::DispatchKey::CPU) : t; }
Tensor to_device(const Tensor& t, DeviceIndex i) {
  if (!t.defined() || on_device(t)) return t;
  check_float64(t.scalar_type());
  return alias(t, Device(kDevice, i), c10::DispatchKey::CUDA);
}

// ------------------------------------------------------------- which devices an operator sees
// The shape of their result, or an error, depends on the values.
const std::set<std::string> kWaits = {
    "aten::nonzero", "aten::masked_select", "aten::_unique", "aten::_unique2", "aten::unique_dim",
    "aten::unique_consecutive", "aten::equal", "aten::bincount", "aten::repeat_interleave", "aten::is_nonzero",
    "aten::linalg_inv_ex", "aten::_linalg_solve_ex", "aten::_linalg_svd", "aten::_linalg_eigh",
    "aten::linalg_lu_factor_ex", "aten::linalg_cholesky_ex", "aten::linalg_lstsq", "aten::linalg_qr",
    "aten::_linalg_det", "aten::histc"};
// Their indices may be on the CPU.
const std::set<std::string> kIndexing = {"aten::index", "aten::index_put", "aten::index_put_", "aten::_index_put_impl_",
                                         "aten::_unsafe_index", "aten::_unsafe_index_put"};

struct Call {
  std::string name;
  bool is_pointwise, is_indexing, is_list;  // of lists of tensors
  bool waits;
  bool on_device = false;
  DeviceIndex index = -1;

  explicit Call(const c10::OperatorHandle& op) : name(op.schema().operator_name().name) {
    is_pointwise = op.hasTag(at::Tag::pointwise);
    is_indexing = kIndexing.count(name);
    is_list = name.rfind("aten::_foreach", 0) == 0 || name.rfind("aten::_fused", 0) == 0;
    waits = kWaits.count(name);
  }

  void look(const Tensor& t) {
    if (!pretend::on_device(t)) return;
    if (on_device && index != t.device().index())
      TORCH_CHECK(false, "Expected all tensors to be on the same device, but found at least two devices, cuda:",
                  (int)index, " and cuda:", (int)t.device().index(), "! (", name, ")");
    on_device = true;
    index = t.device().index();
  }

  /// Raise if a tensor on the CPU is not allowed beside those on the device.
  void check(const Tensor& t, bool is_first, bool is_written) const {
    if (!on_device || !t.defined() || pretend::on_device(t)) return;
    if (is_indexing && !is_first) {
      if (t.dim()) tell("host index", name, t.nbytes());
      return;
    }
    const bool is_number = t.unsafeGetTensorImpl()->is_wrapped_number();
    if (t.dim() == 0 && !is_written && (is_pointwise || is_list || is_number)) return;
    TORCH_CHECK(!is_indexing, "indices should be either on cpu or on the same device as the indexed tensor (cpu)");
    TORCH_CHECK(false, "Expected all tensors to be on the same device, but found at least two devices, cuda:",
                (int)index, " and cpu! (", name, ", tensor of shape ", t.sizes(), ")");
  }
};

using Written = std::vector<std::pair<Tensor, Tensor>>;  // the tensor and its alias

// --------------------------------------------------------------------------- arguments
void look_at_all(Call& call, const std::vector<c10::IValue>& arguments) {
  for (const auto& v : arguments) {
    if (v.isTensor()) {
      call.look(v.toTensor());
    } else if (v.isTensorList()) {
      for (const Tensor& t : v.toTensorVector()) call.look(t);
    } else if (v.isOptionalTensorList()) {
      for (const auto& t : v.toOptionalTensorVector()) if (t) call.look(*t);
    } else if (v.isDevice() && v.toDevice().type() == kDevice) {
      call.on_device = true;
      call.index = v.toDevice().index() < 0 ? Memory::current() : v.toDevice().index();
    }
  }
}

Tensor host_argument(const Call& call, const Tensor& t, bool is_first, bool is_written, Written& written) {
  if (!t.defined()) return t;
  call.check(t, is_first, is_written);
  Tensor a = to_host(t);
  if (is_written && on_device(t)) written.emplace_back(t, a);
  return a;
}

/// Replace tensors on the device by aliases on the host; return whether random numbers are drawn.
bool bring_to_host(Call& call, const c10::FunctionSchema& schema, c10::ArrayRef<c10::IValue*> arguments, Written& written) {
  bool draws = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    auto& v = *arguments[i];
    const auto& argument = schema.arguments()[i];
    const bool is_written = argument.alias_info() && argument.alias_info()->isWrite();
    if (v.isTensor()) {
      v = host_argument(call, v.toTensor(), i == 0, is_written, written);
    } else if (v.isTensorList()) {
      std::vector<Tensor> list;
      for (const Tensor& t : v.toTensorVector()) list.push_back(host_argument(call, t, false, is_written, written));
      v = c10::IValue(list);
    } else if (v.isOptionalTensorList()) {
      c10::List<std::optional<Tensor>> list;
      for (const auto& t : v.toOptionalTensorVector()) {
        if (!t || !t->defined()) { list.push_back(t); continue; }
        if (t->scalar_type() == at::kBool || t->scalar_type() == at::kByte) call.waits = true;  // a mask
        list.push_back(host_argument(call, *t, false, false, written));
      }
      v = c10::IValue(list);
    } else if (v.isDevice()) {
      v = c10::IValue(Device(at::kCPU));
    } else if (v.isGenerator()) {
      TORCH_CHECK(false, "Expected a 'cuda' device type for generator but found 'cpu' (", call.name, ")");
    } else if (v.isNone() && argument.name() == "generator") {
      draws = true;
    } else if (v.isBool() && argument.name() == "pin_memory") {
      v = c10::IValue(false);
    }
  }
  return draws;
}

// ------------------------------------------------------------------------------ results
/// Let tensors have what an operator has put in the place of their memory, such as out=.
void take_over(const Written& written) {
  for (const auto& [original, a] : written) {
    const bool same = original.sizes() == a.sizes() && original.strides() == a.strides() &&
                      original.storage().data() == a.storage().data();
    if (same) continue;
    auto moved = alias(a, original.device(), c10::DispatchKey::CUDA);
    auto* impl = original.unsafeGetTensorImpl();
    impl->set_storage_keep_dtype(moved.storage());
    impl->set_sizes_and_strides(a.sizes(), a.strides(), a.storage_offset());
  }
}

void bring_to_device(const Call& call, const c10::FunctionSchema& schema, const std::vector<Tensor>& originals,
                     torch::jit::Stack* stack) {
  const auto& returns = schema.returns();
  const auto& arguments = schema.arguments();
  const size_t first = stack->size() - returns.size();
  const DeviceIndex index = call.index < 0 ? 0 : call.index;
  for (size_t r = 0; r < returns.size(); ++r) {
    auto& v = (*stack)[first + r];
    const auto* info = returns[r].alias_info();
    if (v.isTensor()) {
      Tensor given;
      for (size_t i = 0; info && info->isWrite() && !given.defined() && i < arguments.size(); ++i)
        if (arguments[i].alias_info() && *arguments[i].alias_info() == *info) given = originals[i];
      v = given.defined() ? given : to_device(v.toTensor(), index);
    } else if (v.isTensorList()) {
      std::vector<Tensor> list;
      for (const Tensor& t : v.toTensorVector()) list.push_back(to_device(t, index));
      v = c10::IValue(list);
    }
  }
}

/// Compute, with the random numbers of the device in the place of those of the CPU.
void compute(const c10::OperatorHandle& op, torch::jit::Stack* stack, bool draws, DeviceIndex index) {
  c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
  if (!draws) { op.callBoxed(stack); return; }
  auto host = at::detail::getDefaultCPUGenerator();
  auto& own = random_numbers(index < 0 ? 0 : index);
  const Tensor before = host.get_state();
  const auto swap_back = [&] { own.set_state(host.get_state()); host.set_state(before); };
  host.set_state(own.get_state());
  try {
    op.callBoxed(stack);
  } catch (...) {
    swap_back();
    throw;
  }
  swap_back();
}

void any_operator(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const auto& schema = op.schema();
  launch(schema.operator_name().name);
  const size_t n = schema.arguments().size(), begin = stack->size() - n;
  const std::vector<c10::IValue> given(stack->begin() + begin, stack->end());
  std::vector<Tensor> originals(n);
  std::vector<c10::IValue*> arguments(n);
  for (size_t i = 0; i < n; ++i) {
    if (given[i].isTensor()) originals[i] = given[i].toTensor();
    arguments[i] = &(*stack)[begin + i];
  }
  Call call(op);
  look_at_all(call, given);
  Written written;
  bool draws = bring_to_host(call, schema, arguments, written);
  draws = draws || op.hasTag(at::Tag::nondeterministic_seeded);
  if (call.waits) tell("wait", call.name, 0);
  compute(op, stack, draws, call.index);
  take_over(written);
  bring_to_device(call, schema, originals, stack);
}

// ------------------------------------------------- memory, views and copies, which are no kernels of the CPU
std::vector<int64_t> dense_strides(c10::IntArrayRef size) {
  std::vector<int64_t> strides(size.size());
  int64_t step = 1;
  for (int64_t i = size.size() - 1; i >= 0; --i) { strides[i] = step; step *= std::max<int64_t>(size[i], 1); }
  return strides;
}

Tensor empty_strided(c10::IntArrayRef size, c10::IntArrayRef stride, std::optional<at::ScalarType> dtype,
                     std::optional<at::Layout>, std::optional<Device> device, std::optional<bool> pin) {
  TORCH_CHECK(!pin.value_or(false), "Only dense CPU tensors can be pinned");
  const auto type = dtype.value_or(at::typeMetaToScalarType(at::get_default_dtype()));
  check_float64(type);
  const auto index = device && device->index() >= 0 ? device->index() : Memory::current();
  TORCH_CHECK(index < kCount, "CUDA error: invalid device ordinal");
  int64_t n = 1;
  for (size_t i = 0; i < size.size(); ++i) n += (size[i] - 1) * stride[i];
  for (const auto length : size) if (length == 0) n = 0;
  const size_t bytes = n * c10::elementSize(type);
  auto data = g_memory.allocate(bytes);
  data.unsafe_set_device(Device(kDevice, index));
  c10::Storage storage(c10::Storage::use_byte_size_t(), bytes, std::move(data), &g_memory, true);
  auto out = at::detail::make_tensor<at::TensorImpl>(std::move(storage), c10::DispatchKeySet(c10::DispatchKey::CUDA),
                                                     c10::scalarTypeToTypeMeta(type));
  out.unsafeGetTensorImpl()->set_sizes_and_strides(size, stride);
  return out;
}
Tensor empty(c10::IntArrayRef size, std::optional<at::ScalarType> dtype, std::optional<at::Layout> layout,
             std::optional<Device> device, std::optional<bool> pin, std::optional<at::MemoryFormat> format) {
  auto out = empty_strided(size, dense_strides(size), dtype, layout, device, pin);
  const bool is_other = format && *format != at::MemoryFormat::Contiguous && *format != at::MemoryFormat::Preserve;
  if (is_other) out.unsafeGetTensorImpl()->empty_tensor_restride(*format);
  return out;
}
const Tensor& resize_(const Tensor& self, c10::IntArrayRef size, std::optional<at::MemoryFormat>) {
  auto* impl = self.unsafeGetTensorImpl();
  impl->set_sizes_contiguous(size);
  const size_t need = (impl->numel() + impl->storage_offset()) * impl->itemsize();
  const auto& storage = self.storage();
  if (need > storage.nbytes()) {
    auto data = g_memory.allocate(need);
    data.unsafe_set_device(self.device());
    if (storage.nbytes()) memcpy(data.get(), storage.data(), storage.nbytes());
    storage.unsafeGetStorageImpl()->set_data_ptr_noswap(std::move(data));
    storage.unsafeGetStorageImpl()->set_nbytes(need);
  }
  return self;
}
Tensor& set_storage(Tensor& self, at::Storage source, int64_t offset, c10::IntArrayRef size, c10::IntArrayRef stride) {
  auto* impl = self.unsafeGetTensorImpl();
  impl->set_storage_keep_dtype(std::move(source));
  const bool is_dense = stride.empty() && !size.empty();
  impl->set_sizes_and_strides(size, is_dense ? dense_strides(size) : stride.vec(), offset);
  return self;
}
Tensor& set_whole(Tensor& self, at::Storage source) {
  const int64_t n = source.nbytes() / self.itemsize();
  return set_storage(self, std::move(source), 0, {n}, {1});
}
Tensor& set_tensor(Tensor& self, const Tensor& t) {
  return set_storage(self, t.storage(), t.storage_offset(), t.sizes(), t.strides());
}
Tensor& set_empty(Tensor& self) {
  return set_tensor(self, empty_strided({0}, {1}, self.scalar_type(), {}, self.device(), {}));
}

Tensor& copy_(Tensor& self, const Tensor& from, bool non_blocking) {
  c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
  launch("aten::copy_");
  const bool is_ahead = non_blocking && !on_device(from) && Pinned::owns(from.storage().data());
  if (!on_device(self)) tell("wait", "copy to host", from.nbytes());
  else if (!on_device(from)) tell(is_ahead ? "copy ahead" : "wait", "copy to device", from.nbytes());
  Tensor to = to_host(self);
  to.copy_(to_host(from));
  return self;
}
Tensor copy_from(const Tensor& from, const Tensor& to, bool non_blocking) {
  Tensor target = to;
  return copy_(target, from, non_blocking);
}
Tensor copy_from_and_resize(const Tensor& from, const Tensor& to) {
  if (from.sizes() != to.sizes()) to.resize_(from.sizes());
  Tensor target = to;
  return copy_(target, from, false);
}
at::Scalar item(const Tensor& self) {
  tell("wait", "item", self.nbytes());
  return at::_local_scalar_dense(to_host(self));
}
Tensor strided(const Tensor& self, c10::IntArrayRef size, c10::IntArrayRef stride, std::optional<int64_t> offset) {
  auto out = at::detail::make_tensor<at::TensorImpl>(c10::TensorImpl::VIEW, c10::Storage(self.storage()),
                                                     self.key_set(), self.dtype());
  out.unsafeGetTensorImpl()->set_sizes_and_strides(size, stride, offset.value_or(self.storage_offset()));
  return out;
}
Tensor like(const Tensor& self, const Tensor& host) {
  return strided(self, host.sizes(), host.strides(), host.storage_offset());
}
Tensor view(const Tensor& self, c10::IntArrayRef size) { return like(self, to_host(self).view(size)); }
Tensor unfold(const Tensor& self, int64_t dim, int64_t size, int64_t step) {
  return like(self, to_host(self).unfold(dim, size, step));
}
Tensor reshape_alias(const Tensor& self, c10::IntArrayRef size, c10::IntArrayRef stride) {
  return strided(self, size, stride, self.storage_offset());
}
}  // namespace pretend

TORCH_LIBRARY_IMPL(_, CUDA, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&pretend::any_operator>()); }
TORCH_LIBRARY_IMPL(aten, CUDA, m) {
  m.impl("empty.memory_format", pretend::empty);
  m.impl("empty_strided", pretend::empty_strided);
  m.impl("resize_", pretend::resize_);
  m.impl("set_.source_Storage", pretend::set_whole);
  m.impl("set_.source_Storage_storage_offset", pretend::set_storage);
  m.impl("set_.source_Tensor", pretend::set_tensor);
  m.impl("set_", pretend::set_empty);
  m.impl("copy_", pretend::copy_);
  m.impl("_copy_from", pretend::copy_from);
  m.impl("_copy_from_and_resize", pretend::copy_from_and_resize);
  m.impl("_local_scalar_dense", pretend::item);
  m.impl("as_strided", pretend::strided);
  m.impl("view", pretend::view);
  m.impl("_reshape_alias", pretend::reshape_alias);
  m.impl("unfold", pretend::unfold);
  // Composite operators that would choose kernels that only CUDA has.
  for (const char* name : {"convolution", "convolution_backward", "index.Tensor", "index_put_", "_index_put_impl_",
                           "embedding_bag", "_foreach_norm.Scalar"})
    m.impl(name, torch::CppFunction::makeFromBoxedFunction<&pretend::any_operator>());
}

// ---------------------------------------------------------------- called from Python
extern "C" {
void pretend_tell(PyObject* listener) {
  Py_XINCREF(listener);
  Py_XDECREF(pretend::g_listener);
  pretend::g_listener = listener == Py_None ? nullptr : listener;
}
void pretend_forbid_float64(int on) { pretend::g_forbids_float64 = on; }
void pretend_tell_launches(int on) { pretend::g_tells_launches = on; }
int pretend_exchange_device(int index) { return pretend::exchange(index); }
long long pretend_take_launches() { return std::exchange(pretend::g_launches, 0); }
int pretend_is_in_use() { return at::detail::getCUDAHooks().hasCUDA(); }
int pretend_state_size() { return pretend::random_numbers(0).get_state().nbytes(); }
void pretend_get_state(int index, unsigned char* to) {
  const auto state = pretend::random_numbers(index).get_state();
  memcpy(to, state.data_ptr(), state.nbytes());
}
void pretend_set_state(int index, const unsigned char* from) {
  auto state = pretend::random_numbers(index).get_state();
  memcpy(state.data_ptr(), from, state.nbytes());
  pretend::random_numbers(index).set_state(state);
}
void pretend_seed(int index, unsigned long long seed) { pretend::random_numbers(index).set_current_seed(seed); }
unsigned long long pretend_initial_seed(int index) { return pretend::random_numbers(index).current_seed(); }
}
