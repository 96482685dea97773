#!/usr/bin/env python
"""`from cloudify import ctx` for scripts on another machine: each use is one run of the command `ctx` there."""
import json
import shlex
import subprocess
from collections.abc import Mapping, MutableMapping


def _run(words):
    """What the command prints. Raises CalledProcessError with its output."""
    done = subprocess.run(['ctx'] + words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    output, error = done.stdout.decode('utf-8', 'replace'), done.stderr.decode('utf-8', 'replace')
    if done.returncode != 0:
        raise subprocess.CalledProcessError(done.returncode, ['ctx'] + words, output, error)
    return output


def _read(words):
    return json.loads(_run(['-j'] + words) or 'null')


def _json(value):
    return '@' + json.dumps(value)


class CtxLogger(object):
    def _log(self, level, message):
        _run(['logger', level, str(message)])

    def debug(self, message):
        self._log('debug', message)

    def info(self, message):
        self._log('info', message)

    def warning(self, message):
        self._log('warning', message)

    warn = warning

    def error(self, message):
        self._log('error', message)


class CtxNodeProperties(Mapping):
    """A dictionary that is read where ctx is, a value at a time."""
    _place = ['node', 'properties']

    def __init__(self, relationship=None):
        self.relationship = relationship
        self._words = ([relationship] if relationship else []) + self._place

    def get_all(self):
        return _read(self._words)

    def __getitem__(self, property_name):
        found = self.get_all()
        for part in property_name.split('.') if property_name not in found else [property_name]:
            found = found[part]
        return found

    def __iter__(self):
        return iter(self.get_all())

    def __len__(self):
        return len(self.get_all())


class CtxInstanceRuntimeProperties(CtxNodeProperties, MutableMapping):
    _place = ['instance', 'runtime_properties']

    def __setitem__(self, property_name, value):
        _run(self._words + [property_name, _json(value)])

    def __delitem__(self, property_name):
        _run(self._words + ['__delitem__', property_name])


class _Facts(object):
    def __init__(self, kind, relationship=None):
        self.relationship = relationship
        self._words = ([relationship] if relationship else []) + [kind]

    def __getattr__(self, name):
        if name.startswith('_'):
            raise AttributeError(name)
        return _read(self._words + [name])


class CtxNode(_Facts):
    def __init__(self, relationship=None):
        super(CtxNode, self).__init__('node', relationship)

    @property
    def properties(self):
        return CtxNodeProperties(self.relationship)


class CtxNodeInstance(_Facts):
    def __init__(self, relationship=None):
        super(CtxNodeInstance, self).__init__('instance', relationship)

    @property
    def runtime_properties(self):
        return CtxInstanceRuntimeProperties(self.relationship)

    def update(self):
        _run(self._words + ['update'])


class CtxRelationshipInstance(object):
    def __init__(self, relationship):
        self.node = CtxNode(relationship)
        self.instance = CtxNodeInstance(relationship)


class Ctx(object):
    def __init__(self):
        self.logger = CtxLogger()
        self.node = CtxNode()
        self.instance = CtxNodeInstance()
        self.source = CtxRelationshipInstance('source')
        self.target = CtxRelationshipInstance('target')

    def __call__(self, command_ref):
        """Runs the words of a ctx command line."""
        return _run(shlex.split(command_ref))

    def returns(self, data):
        _run(['returns', _json(data)])

    def abort_operation(self, message=''):
        _run(['abort_operation'] + ([message] if message else []))

    def retry_operation(self, message=''):
        _run(['retry_operation'] + ([message] if message else []))

    def download_resource(self, source, destination=''):
        return _run(['download-resource', source] + ([destination] if destination else []))

    def download_resource_and_render(self, source, destination='', params=None):
        words = ['download-resource-and-render', source] + ([destination] if destination else [])
        return _run(words + [_json({'template_variables': params or {}})])


ctx = Ctx()
