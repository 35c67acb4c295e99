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
