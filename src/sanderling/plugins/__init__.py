"""Plugins: installed packages that add URL filters, extractors, document readers, sinks, and other parts.

A plugin is an entry point (PyPA specification) of one of the groups in `plugin_registry.PluginGroup`. It is imported
when it is used by name, never because it is installed; only document readers and content rules are used without being
named, because they define the text of a page for all collections, commands, and worker processes.
"""
