"""Serves a ctx to programs of a plugin, also over a tunnel from another machine: what the plugin's own object answers."""
import json
import re
import socket
import threading
import traceback
from collections.abc import Mapping, MutableMapping
from http.server import BaseHTTPRequestHandler, HTTPServer

from cloudify.proxy.client import ScriptException
from cloudify.state import current_ctx

_INDEXED = re.compile(r'(.+)\[(\d+)\]$')


class CtxProxy(object):
    """Answers requests with `ctx`; `socket_url` is where it listens."""

    def __init__(self, ctx, socket_url):
        self.ctx = ctx
        self.socket_url = socket_url

    def process(self, request):
        """The answer to a request {"args": [...]}, both as JSON text; an error of ctx is an answer too."""
        try:
            payload, kind = process_ctx_request(self.ctx, json.loads(request)['args']), 'result'
            if isinstance(payload, ScriptException):
                payload, kind = {'message': str(payload)}, 'stop_operation'
            return json.dumps({'type': kind, 'payload': payload})
        except Exception as error:
            told = {'type': type(error).__name__, 'message': str(error), 'traceback': traceback.format_exc()}
            return json.dumps({'type': 'error', 'payload': told})

    def close(self):
        pass


class HTTPCtxProxy(CtxProxy):
    """A proxy on a port of this machine, in a thread of its own until close()."""

    def __init__(self, ctx, port=None):
        self.server = HTTPServer(('127.0.0.1', port or 0), self._handler())
        self.port = self.server.server_port
        super(HTTPCtxProxy, self).__init__(ctx, 'http://localhost:%d' % self.port)
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={'poll_interval': 0.1})
        self.thread.daemon = True
        self.thread.start()

    def _handler(self):
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                request = self.rfile.read(int(self.headers.get('Content-Length') or 0)).decode('utf-8')
                with current_ctx.push(proxy.ctx):
                    answer = proxy.process(request).encode('utf-8')
                self.send_response(200)
                self.send_header('Content-Type', 'application/json')
                self.send_header('Content-Length', str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_):
                pass
        return Handler

    def close(self):
        self.server.shutdown()
        self.server.server_close()


# Kinds of sockets that older libraries ask for: every program that finds the address finds this one.
UnixCtxProxy = TCPCtxProxy = HTTPCtxProxy


class StubCtxProxy(object):
    """Stands for a proxy where none is wanted."""
    socket_url = ''

    def close(self):
        pass


def process_ctx_request(ctx, args):
    """Follows the words through attributes, then into a dictionary by a path or into a call with the rest of them."""
    current = ctx
    for index, word in enumerate(args):
        name = _attribute(current, word)
        if name:
            current = getattr(current, name)
        elif isinstance(current, MutableMapping):
            return _dictionary(PathDictAccess(current), args[index:])
        elif callable(current):
            return _called(current, list(args[index:]))
        else:
            raise RuntimeError('%s cannot be processed in %s' % (word, args))
    return current() if callable(current) else current


def _attribute(owner, word):
    """The name of the attribute that the word means, with - for _; None where there is none."""
    names = [word, word.replace('-', '_')] if isinstance(word, str) else []
    return next((name for name in names if hasattr(owner, name)), None)


def _dictionary(access, words):
    if len(words) > 2:
        raise RuntimeError('Illegal argument while accessing dict')
    return access.get(words[0]) if len(words) == 1 else access.set(*words)


def _called(function, arguments):
    named = arguments.pop() if isinstance(arguments[-1], Mapping) else {}
    return function(*arguments, **named)


class PathDictAccess(object):
    """Values of nested dictionaries by paths like a.b[0].c."""

    def __init__(self, obj):
        self.obj = obj

    def get(self, prop_path):
        found = self.obj
        for part in prop_path.split('.'):
            found = self._step(found, part, prop_path)
        return found

    def set(self, prop_path, value):
        """Makes the dictionaries on the way that are not there."""
        owner = self.obj
        *way, last = prop_path.split('.')
        for part in way:
            if part not in owner and not _INDEXED.match(part):
                owner[part] = {}
            owner = self._step(owner, part, prop_path)
        owner[last] = value

    @staticmethod
    def _step(owner, part, path):
        indexed = _INDEXED.match(part)
        try:
            return owner[indexed.group(1)][int(indexed.group(2))] if indexed else owner[part]
        except (KeyError, IndexError, TypeError):
            raise RuntimeError('illegal path: %s' % path)


def get_unused_port():
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]
