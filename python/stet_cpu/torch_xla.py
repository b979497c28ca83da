"""Entry point `torch_xla.plugins`: PJRT_DEVICE=STET."""

from torch_xla.experimental import plugins

from stet_cpu import library_path


class Plugin(plugins.DevicePlugin):
    """One device in one process."""

    def library_path(self):
        return library_path()

    def configure_single_process(self):
        pass


def after_plugins(module):
    """Registers the device where the package is not installed, once torch_xla has taken in those that are."""
    register_installed = module.register_installed_plugins

    def register_installed_plugins():
        register_installed()
        if "STET" not in module._plugin_registry:
            module.register_plugin("STET", Plugin())

    module.register_installed_plugins = register_installed_plugins
