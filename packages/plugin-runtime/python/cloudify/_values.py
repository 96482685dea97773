"""Kinds of values that a ctx is made of: read only, watched for changes, fetched at the first use."""
import copy
import json

from cloudify import exceptions



def text_of(value):
    """Text of anything, also of what refuses to be one."""
    try:
        return str(value)
    except Exception:
        return 'a value of type %s without text' % type(value).__name__


_READ_ONLY = 'Cannot override read only properties'


class ReadOnlyDict(dict):
    """Properties of a node: any change is refused."""

    def _refuse(self, *_, **__):
        raise exceptions.NonRecoverableError(_READ_ONLY)

    __setitem__ = __delitem__ = update = clear = pop = popitem = setdefault = __ior__ = _refuse

    def __deepcopy__(self, memo):
        return copy.deepcopy(dict(self), memo)


class DirtyTrackingDict(dict):
    """Runtime properties. Changes are found by comparing with what was read, so nested ones count as well."""

    def __init__(self, *args, **kwargs):
        super(DirtyTrackingDict, self).__init__(*args, **kwargs)
        self.modifiable = True
        self.mark_stored()

    @property
    def dirty(self):
        return self._is_marked or json.dumps(self) != self._stored

    @dirty.setter
    def dirty(self, is_dirty):
        self._is_marked = bool(is_dirty)

    def _set_changed(self):
        """What plugins call after a change deep inside; it is found without that too."""
        if not self.modifiable:
            raise exceptions.NonRecoverableError('Cannot modify runtime properties of relationship node instances')
        self._is_marked = True

    def mark_stored(self):
        self._is_marked = False
        self._stored = json.dumps(self)


class Lazy(object):
    """Attributes from one answer of the proxy, fetched once."""

    def __init__(self, fetch):
        self._fetch = fetch
        self._facts = None

    def _get(self, name):
        if self._facts is None:
            self._facts = self._fetch()
        return self._facts.get(name)

    def __getattr__(self, name):
        if name.startswith('_'):
            raise AttributeError(name)
        value = self._get(name)
        if value is None and name not in self._facts:
            raise AttributeError('%s; there are: %s' % (name, ', '.join(sorted(self._facts))))
        return value
