"""Revisit policies by name: when a page is due again. The default performed best (docs/measurements/benchmarks.md)."""

from sanderling.errors import UsageError
from sanderling.plugins.plugin_registry import PluginGroup, has_plugin, load_plugin
from sanderling.revisit.policies import learned
from sanderling.revisit.policies.classic_policies import CLASSIC_POLICIES
from sanderling.revisit.policies.policy import RevisitPolicy

DEFAULT_POLICY = learned.POLICY.name
POLICIES: dict[str, RevisitPolicy] = {policy.name: policy for policy in (learned.POLICY, *CLASSIC_POLICIES)}


def find_policy(name: str) -> RevisitPolicy | None:
    """Return a policy by name, also one of a plugin. None: there is none. Raises UsageError if it cannot be loaded."""
    if name in POLICIES or not has_plugin(PluginGroup.REVISIT_POLICIES, name):
        return POLICIES.get(name)
    policy = load_plugin(PluginGroup.REVISIT_POLICIES, name)
    if not isinstance(policy, RevisitPolicy):
        raise UsageError(f"the plugin {name!r} is not a RevisitPolicy")
    return policy
