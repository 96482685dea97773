"""What the manager was set up with, as plugins ask for it: a dictionary with its parts as attributes."""


class _Part(object):
    """A part whose values are attributes; what nobody has set is None."""

    def __init__(self, facts):
        self._facts = facts or {}

    def __getattr__(self, name):
        if name.startswith('_'):
            raise AttributeError(name)
        return self._facts.get(name)


class BootstrapContext(dict):
    @property
    def cloudify_agent(self):
        return _Part(self.get('cloudify_agent'))

    @property
    def policy_engine(self):
        return _Part(self.get('policy_engine'))

    @property
    def resources_prefix(self):
        return self.get('resources_prefix', '')
