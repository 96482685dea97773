"""Calls to the ctx proxy of this run, over one kept connection.

With sockets only: the HTTP client of the standard library takes as long for a call as everything else of a short operation.
"""
import json
import os
import socket
import threading

try:
    from urllib.parse import urlparse
except ImportError:
    from urlparse import urlparse

from cloudify import exceptions

_lock = threading.Lock()
_open = {}
# Whether anything has asked for the context where there is none; baton_server.py looks at it after an import.
asked_without_run = False


def _connection(place):
    key = (os.getpid(), place.netloc)
    if key not in _open:
        _open.clear()
        host = '127.0.0.1' if place.hostname == 'localhost' else place.hostname
        connection = socket.create_connection((host, place.port or 80))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        _open[key] = (connection, connection.makefile('rb'))
    return _open[key]


def _answer(stream):
    """The body of an answer with a length, as the proxy gives it."""
    status = stream.readline().split()
    if len(status) < 2 or status[1] != b'200':
        raise IOError('the ctx proxy answers %r' % (status[1:2] or 'nothing'))
    length = 0
    while True:
        name, _, value = stream.readline().partition(b':')
        if not name.strip():
            break
        if name.lower() == b'content-length':
            length = int(value)
    body = stream.read(length)
    if len(body) < length:
        raise IOError('the ctx proxy ended within an answer')
    return body


def _post(url, body):
    place = urlparse(url)
    content = body.encode('utf-8')
    head = 'POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n' % (
        place.path or '/', place.netloc, len(content))
    for is_last in (False, True):
        try:
            connection, stream = _connection(place)
            connection.sendall(head.encode('utf-8') + content)
            return json.loads(_answer(stream).decode('utf-8'))
        except (OSError, IOError):
            for kept in _open.values():
                kept[0].close()
            _open.clear()
            if is_last:
                raise


def as_json(request):
    """Raises TypeError or ValueError saying what is no JSON, before anything is sent."""
    try:
        return json.dumps(request, allow_nan=False)
    except RecursionError:
        raise ValueError('a value is nested too deeply to be written as JSON')


def _conflict(message):
    """The error of an update that came too late: one of the REST client too, as plugins catch it."""
    from cloudify_rest_client.exceptions import CloudifyClientError

    class Conflict(exceptions.NodeInstanceUpdateConflict, CloudifyClientError):
        def __init__(self):
            CloudifyClientError.__init__(self, message, status_code=409, error_code='conflict_error')

    Conflict.__name__ = 'CloudifyClientError'
    return Conflict()


def call(request):
    """The payload of the proxy's answer; request is a dictionary with args or op.

    Raises the error that the proxy names, or NotInContext outside a run.
    """
    global asked_without_run
    url = os.environ.get('CTX_SOCKET_URL')
    if not url:
        asked_without_run = True
        raise exceptions.NotInContext('No context set in current execution thread')
    with _lock:
        reply = _post(url, as_json(request))
    if reply['type'] == 'result':
        return reply['payload']
    payload = reply['payload']
    if reply['type'] == 'stop_operation':
        return None
    known = getattr(exceptions, payload['type'], None)
    if payload['type'] == 'CloudifyClientError':
        raise _conflict(payload['message'])
    if isinstance(known, type) and issubclass(known, exceptions.NonRecoverableError) and known is not exceptions.HttpException:
        raise known(payload['message'])
    if payload['type'] in ('NonRecoverableError', 'HttpException'):
        raise exceptions.NonRecoverableError(payload['message'])
    raise RuntimeError(payload['message'])
