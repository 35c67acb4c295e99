// Lets the autograd engine run backward on fake CUDA tensors in a CUDA build of PyTorch on a machine without a GPU: the hooks say that CUDA is
// built and that its device has no context.
#include <ATen/detail/CUDAHooksInterface.h>

struct NoDeviceHooks : public at::CUDAHooksInterface {
  bool hasCUDA() const override { return true; }
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return false; }
  bool hasCuDNN() const override { return false; }
};

namespace at::detail {
const CUDAHooksInterface& getCUDAHooks() {
  static NoDeviceHooks* hooks = new NoDeviceHooks();
  return *hooks;
}
}  // namespace at::detail

// DistributedDataParallel times its iterations with CUDA events: without a device it does not.
extern "C" __attribute__((visibility("default"))) bool _ZN4c10d7Reducer28should_collect_runtime_statsEv(void*) { return false; }

// The order of its buckets is rank 0's own: nothing comes from another rank.
extern "C" __attribute__((visibility("default"))) void _ZN4c10d7Reducer19sync_bucket_indicesERSt6vectorIS1_ImSaImEESaIS3_EE(void*, void*, void*) {}
