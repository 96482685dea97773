"""Inputs of the operation that runs."""


class Parameters(dict):
    """Inputs of the operation, by key or attribute."""
    _is_loaded = False

    def __init__(self, read):
        super(Parameters, self).__init__()
        self.__dict__['_read'] = read

    def _load(self):
        if not self._is_loaded:
            self._is_loaded = True
            dict.update(self, self._read() or {})

    def __getattr__(self, name):
        if name.startswith('_'):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError:
            raise AttributeError("there is no input '%s'" % name)

    def __getitem__(self, key):
        self._load()
        return dict.__getitem__(self, key)

    def __contains__(self, key):
        self._load()
        return dict.__contains__(self, key)

    def __iter__(self):
        self._load()
        return dict.__iter__(self)

    def __len__(self):
        self._load()
        return dict.__len__(self)

    def get(self, key, default=None):
        self._load()
        return dict.get(self, key, default)

    def keys(self):
        self._load()
        return dict.keys(self)

    def values(self):
        self._load()
        return dict.values(self)

    def items(self):
        self._load()
        return dict.items(self)
