// Memory, devices and waits of the pretend device. Included by operators.cpp alone.
#pragma once
#include <Python.h>

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/core/impl/alloc_cpu.h>

#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace pretend {
using c10::Device;
using c10::DeviceIndex;
using c10::DeviceType;
using c10::Stream;
constexpr DeviceType kDevice = DeviceType::CUDA;
constexpr int kCount = 2;

// A Python function that is told of waits and copies: (kind, operator, bytes).
PyObject* g_listener = nullptr;
bool g_forbids_float64 = false;  // as on MPS
bool g_tells_launches = false;
int64_t g_launches = 0;  // operators computed and copies made on the device

void tell(const char* kind, const std::string& op, int64_t bytes) {
  if (!g_listener) return;
  PyGILState_STATE gil = PyGILState_Ensure();
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyObject* result = PyObject_CallFunction(g_listener, "ssL", kind, op.c_str(), (long long)bytes);
  if (!result) PyErr_WriteUnraisable(g_listener);
  Py_XDECREF(result);
  PyErr_Restore(type, value, trace);
  PyGILState_Release(gil);
}

void launch(const std::string& op) {
  ++g_launches;
  if (g_tells_launches) tell("launch", op, 0);
}

void free_block(void* block) { c10::free_cpu(block); }

struct Memory final : c10::Allocator {
  c10::DataPtr allocate(size_t n) override {
    void* block = n ? c10::alloc_cpu(n) : nullptr;
    if (n) memset(block, 0xCB, n);  // nobody may rely on fresh memory
    return {block, block, &free_block, Device(kDevice, current())};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &free_block; }
  void copy_data(void* to, const void* from, size_t n) const override { memcpy(to, from, n); }
  static DeviceIndex& current() {
    thread_local DeviceIndex index = 0;
    return index;
  }
};
Memory g_memory;

// Memory of the host from which copies do not wait.
struct Pinned final : c10::Allocator {
  c10::DataPtr allocate(size_t n) override {
    void* block = c10::alloc_cpu(n);
    const std::lock_guard<std::mutex> lock(mutex());
    sizes()[block] = n;
    return {block, block, &release, Device(at::kCPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* to, const void* from, size_t n) const override { memcpy(to, from, n); }
  static bool owns(const void* data) {
    const std::lock_guard<std::mutex> lock(mutex());
    auto after = sizes().upper_bound(data);
    if (after == sizes().begin()) return false;
    --after;
    return data < static_cast<const char*>(after->first) + after->second;
  }

 private:
  static std::mutex& mutex() { static auto* one = new std::mutex; return *one; }
  static std::map<const void*, size_t>& sizes() { static auto* all = new std::map<const void*, size_t>; return *all; }
  static void release(void* block) {
    const std::lock_guard<std::mutex> lock(mutex());
    sizes().erase(block);
    c10::free_cpu(block);
  }
};
Pinned g_pinned;

DeviceIndex exchange(DeviceIndex index) {
  const auto before = Memory::current();
  TORCH_CHECK(index < kCount, "CUDA error: invalid device ordinal");
  if (index >= 0) Memory::current() = index;
  return before;
}

struct Guard final : c10::impl::DeviceGuardImplInterface {
  DeviceType type() const override { return kDevice; }
  Device exchangeDevice(Device d) const override { return Device(kDevice, exchange(d.index())); }
  Device getDevice() const override { return Device(kDevice, Memory::current()); }
  void setDevice(Device d) const override { exchange(d.index()); }
  void uncheckedSetDevice(Device d) const noexcept override {
    if (d.index() >= 0) Memory::current() = d.index();
  }
  Stream getStream(Device d) const override {
    return Stream(Stream::DEFAULT, Device(kDevice, d.index() < 0 ? 0 : d.index()));
  }
  Stream getDefaultStream(Device d) const override { return getStream(d); }
  Stream exchangeStream(Stream s) const override { return s; }
  DeviceIndex deviceCount() const noexcept override { return kCount; }
  void record(void**, const Stream&, const DeviceIndex, const c10::EventFlag) const override {}
  void block(void*, const Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
  bool queryStream(const Stream&) const override { return true; }
  void synchronizeStream(const Stream&) const override { tell("wait", "stream", 0); }
  void synchronizeDevice(const DeviceIndex) const override { tell("wait", "device", 0); }
};

// What torch asks before it uses CUDA.
struct Hooks final : at::CUDAHooksInterface {
  explicit Hooks(at::CUDAHooksArgs) {}
  void init() const override {}
  bool hasCUDA() const override { return true; }
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(DeviceIndex) const override { return true; }
  DeviceIndex current_device() const override { return Memory::current(); }
  DeviceIndex deviceCount() const override { return kCount; }
  DeviceIndex getCurrentDevice() const override { return Memory::current(); }
  int getNumGPUs() const override { return kCount; }
  void setCurrentDevice(DeviceIndex d) const override { exchange(d); }
  DeviceIndex exchangeDevice(DeviceIndex d) const override { return exchange(d); }
  DeviceIndex maybeExchangeDevice(DeviceIndex d) const override { return exchange(d); }
  Device getDeviceFromPtr(void*) const override { return Device(kDevice, 0); }
  bool isPinnedPtr(const void* data) const override { return Pinned::owns(data); }
  c10::Allocator* getPinnedMemoryAllocator() const override { return &g_pinned; }
  c10::Allocator* getCUDADeviceAllocator() const override { return &g_memory; }
  void deviceSynchronize(DeviceIndex) const override { tell("wait", "device", 0); }
};

// Each device has random numbers of its own.
at::Generator& random_numbers(DeviceIndex index) {
  static at::Generator all[kCount] = {at::detail::createCPUGenerator(1), at::detail::createCPUGenerator(2)};
  return all[index];
}
}  // namespace pretend

namespace at {
using PretendHooks = ::pretend::Hooks;
C10_REGISTER_TYPED_CLASS(CUDAHooksRegistry, "CUDAHooks", PretendHooks);
}  // namespace at
namespace c10 {
using PretendGuard = ::pretend::Guard;
REGISTER_ALLOCATOR(DeviceType::CUDA, &::pretend::g_memory);
C10_REGISTER_GUARD_IMPL(CUDA, PretendGuard);
}  // namespace c10
