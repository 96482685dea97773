"""What related node instances offer, as older plugins ask for it."""
from cloudify import exceptions


class Capabilities(object):
    """Runtime properties of the targets of all relationships, as older plugins ask for them."""

    def __init__(self, relationships):
        self._all = {r.target.instance.id: dict(r.target.instance.runtime_properties) for r in relationships}

    def get_all(self):
        return self._all

    def __contains__(self, key):
        return any(key in properties for properties in self._all.values())

    def __getitem__(self, key):
        found = [properties[key] for properties in self._all.values() if key in properties]
        if len(found) != 1:
            what = 'ambiguity' if found else 'not found'
            raise exceptions.NonRecoverableError("'%s' capability %s [capabilities=%s]" % (key, what, self._all))
        return found[0]
