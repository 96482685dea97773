"""Calls of workflow code to the engine, through the proxy of the run. Each thread has a connection of its own: some wait."""
import json
import os
import threading

from http.client import HTTPConnection, HTTPException
from urllib.parse import urlparse

from cloudify import exceptions
from cloudify.proxy_call import as_json

_local = threading.local()


def _connection(place):
    known = getattr(_local, 'connection', None)
    if known is None:
        known = _local.connection = HTTPConnection(place.replace('localhost', '127.0.0.1'))
    return known


def engine(op, **request):
    """The answer of the engine. Raises RuntimeError when it refuses the call, NotInContext outside a workflow."""
    url = os.environ.get('CTX_SOCKET_URL')
    if not url:
        raise exceptions.NotInContext('No context set in current execution thread')
    place = urlparse(url)
    body = as_json(dict(request, op=op))
    for is_last in (False, True):
        connection = _connection(place.netloc)
        try:
            connection.request('POST', place.path + '/wf', body, {'Content-Type': 'application/json'})
            reply = json.loads(connection.getresponse().read().decode('utf-8'))
            break
        except (HTTPException, OSError):
            connection.close()
            if is_last:
                raise
    if reply['type'] == 'result':
        return reply['payload']
    raise RuntimeError(reply['payload']['message'])


def submit(**work):
    """Hands work over; the keys of its tasks. Raises what the engine says is wrong with it."""
    answer = engine('wf_submit', work=work)
    error = answer['error']
    if error is None:
        return answer['keys']
    known = {'ValueError': ValueError, 'NonRecoverableError': exceptions.NonRecoverableError}
    raise known.get(error['type'], RuntimeError)(error['message'])
