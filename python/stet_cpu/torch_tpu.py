"""TorchTPU on the CPU backend: what it would otherwise learn from a TPU on the PCI bus.

TorchTPU opens the plugin that TPU_LIBRARY_PATH names, but registers its device only when it has found a
TPU; from then on everything goes through the plugin."""

import os


def after_hardware(module):
    """torch_tpu._internal.utils.hardware: one chip, this machine's memory."""
    # TorchTPU lowers for the platform that the plugin reports.
    os.environ.setdefault("STET_CPU_PLATFORM", "tpu")
    module._scan_pci_tpus = lambda: (1, {1: "1,1,1"})
    module.get_tpu_device_name = lambda: "Stet CPU"
    module.get_hbm_bytes_per_device = lambda: os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def after_loader(module):
    """torch_tpu._loader: attention by plain operations. Its flash attention is a kernel in a TPU's own
    instructions, which nothing but a TPU runs."""
    module.torch.backends.cuda.enable_flash_sdp(False)
