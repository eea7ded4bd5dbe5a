"""Plugins: installed packages that add URL filters, extractors, sinks, orderings, revisit policies, and notifiers.

A plugin is an entry point (PyPA specification) of one of the groups in `plugin_registry.PluginGroup`. It is imported
when it is used by name, never because it is installed.
"""
