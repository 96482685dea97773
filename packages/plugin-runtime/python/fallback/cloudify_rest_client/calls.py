"""Methods of resources, made from lines that say verb, path and arguments.

`PUT /deployments/{deployment_id} : blueprint_id deployment_id inputs visibility=tenant schedule>scheduled_time`
takes the arguments in this order; those that are not in the path become the query of a GET (and of a verb with `?`) and
the body of anything else, under the name behind `>`. Further keyword arguments go along under their own names.
"""
import re
from urllib.parse import quote

from cloudify_rest_client.responses import ListResponse, Record


# What all methods of a name take behind their own arguments.
_BESIDE = {'list': ['_include', 'sort', 'is_descending'], 'get': ['_include']}


class Call(object):
    def __init__(self, method, line):
        head, _, arguments = line.partition(' : ')
        verb, self.path = head.split()
        self.verb = verb.rstrip('?')
        self.asks = verb in ('GET', verb.rstrip('?') + '?')
        self.fields = re.findall(r'{(\w+)}', self.path)
        self.names, self.wire, self.defaults = [], {}, {}
        for argument in (arguments.split() or self.fields):
            name, _, default = argument.partition('=')
            name, _, wire = name.partition('>')
            self.names.append(name)
            self.wire[name] = wire or name
            if default:
                self.defaults[name] = default
        self.names += [name for name in _BESIDE.get(method, []) if name not in self.names]

    def bind(self, name, args, given):
        """Values by argument. Raises TypeError as a method of that signature does."""
        if len(args) > len(self.names):
            raise TypeError('%s() takes %d arguments but %d were given' % (name, len(self.names), len(args)))
        twice = set(self.names[:len(args)]) & set(given)
        if twice:
            raise TypeError("%s() got multiple values for argument '%s'" % (name, sorted(twice)[0]))
        values = dict(self.defaults, **dict(zip(self.names, args)))
        values.update(given)
        for field in self.fields:
            if values.get(field) in (None, ''):
                raise TypeError("%s() misses the argument '%s'" % (name, field))
        return values

    def path_of(self, values):
        return self.path.format(**{field: quote(str(values.pop(field)), safe='') for field in self.fields})


def _listing(values):
    """The query arguments that all lists have."""
    sort, is_descending = values.pop('sort', None), values.pop('is_descending', False)
    if sort:
        values['_sort'] = '-' + sort if is_descending else sort
    for name in ('filter_id', 'get_all_results', 'all_tenants', 'search', 'offset', 'size'):
        if name in values:
            values['_' + name] = values.pop(name)
    return values


class Resource(object):
    """One kind of things on the manager. `lines`: its methods; `search`: where lists with rules are asked for."""

    def __init__(self, api, name, lines, record=Record, search=None):
        self.api = api
        self._name = name
        self._calls = {method: Call(method, line) for method, line in lines.items()}
        self._record = record
        self._search = search

    def __getattr__(self, name):
        if name.startswith('_') or name not in self._calls:
            raise AttributeError('there is no %s.%s; there are: %s' % (self._name, name, ', '.join(sorted(self._calls))))
        return self._method(name)

    def _method(self, name):
        """The method as its line says, where a method of the same name does more."""
        call = self._calls[name]

        def method(*args, **given):
            return self.wrap(self._send(call, call.bind(name, args, given)))
        return method

    def _send(self, call, values):
        include = values.pop('_include', None)
        path = call.path_of(values)
        named = {call.wire.get(key, key): value for key, value in values.items() if value is not None}
        query = {'_include': ','.join(include)} if include else {}
        if call.asks:
            rules = {key: named.pop(key) for key in ('filter_rules', 'constraints') if key in named}
            query.update(_listing(named))
            if rules and self._search:
                return self.api.request('POST', self._search, rules, query)
            return self.api.request(call.verb, path, None, query)
        return self.api.request(call.verb, path, named, query)

    def wrap(self, answer):
        if isinstance(answer, dict) and isinstance(answer.get('items'), list):
            return ListResponse([self._one(item) for item in answer['items']], answer.get('metadata'))
        return self._one(answer)

    def _one(self, item):
        return self._record(item) if isinstance(item, dict) else item
