"""Answers of the REST service: dictionaries whose keys are attributes as well."""


class Record(dict):
    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name)


class Metadata(Record):
    @property
    def pagination(self):
        return Record(self.get('pagination') or {})


class ListResponse(object):
    """A page of records; `metadata.pagination` says where it stands."""

    def __init__(self, items, metadata):
        self.items = items
        self.metadata = Metadata(metadata or {})

    def __iter__(self):
        return iter(self.items)

    def __getitem__(self, index):
        return self.items[index]

    def __len__(self):
        return len(self.items)

    def sort(self, key=None, reverse=False):
        self.items.sort(key=key, reverse=reverse)

    def one(self):
        if len(self.items) != 1:
            raise ValueError('there are %d results, not one' % len(self.items))
        return self.items[0]
