"""Calls to the ctx proxy of this run, over one kept connection."""
import json
import os
import threading

try:
    from http.client import HTTPConnection, HTTPException
    from urllib.parse import urlparse
except ImportError:
    from httplib import HTTPConnection, HTTPException
    from urlparse import urlparse

from cloudify import exceptions

_lock = threading.Lock()
_open = {}


def _connection(place):
    key = (os.getpid(), place)
    if key not in _open:
        _open.clear()
        _open[key] = HTTPConnection(place.replace('localhost', '127.0.0.1'))
    return _open[key]


def _post(url, body):
    place = urlparse(url)
    for is_last in (False, True):
        connection = _connection(place.netloc)
        try:
            connection.request('POST', place.path or '/', body, {'Content-Type': 'application/json'})
            return json.loads(connection.getresponse().read().decode('utf-8'))
        except (HTTPException, OSError):
            connection.close()
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
    url = os.environ.get('CTX_SOCKET_URL')
    if not url:
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
