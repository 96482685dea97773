"""The ctx command as one file: programs that serve a ctx elsewhere copy it there, so it imports the standard library only."""
import argparse
import json
import os
import sys
from urllib.request import urlopen

# The environment variable that names the proxy.
CTX_SOCKET_URL = 'CTX_SOCKET_URL'


class ScriptException(Exception):
    """How a script ended that asked for it: by an abort, or with `retry` for another try."""

    def __init__(self, message=None, retry=False):
        super(ScriptException, self).__init__(message)
        self.retry = retry


class RequestError(RuntimeError):
    """What went wrong where ctx is."""

    def __init__(self, ex_message, ex_type, ex_traceback):
        super(RequestError, self).__init__('%s: %s' % (ex_type, ex_message))
        self.ex_type = ex_type
        self.ex_message = ex_message
        self.ex_traceback = ex_traceback


def client_req(socket_url, args, timeout=5):
    """What the proxy answers to the words of a command. Raises RequestError; SystemExit where the operation is to stop."""
    if not socket_url.startswith('http://'):
        raise RuntimeError('Unsupported protocol: %s' % socket_url)
    with urlopen(socket_url, data=json.dumps({'args': args}).encode('utf-8'), timeout=timeout) as answer:
        reply = json.loads(answer.read().decode('utf-8'))
    payload = reply['payload']
    if reply.get('type') == 'error':
        raise RequestError(payload['message'], payload['type'], payload.get('traceback'))
    if reply.get('type') == 'stop_operation':
        raise SystemExit(payload['message'])
    return payload


def process_args(json_prefix, args):
    """Words of a command line; those that begin with the prefix are JSON."""
    return [json.loads(word[len(json_prefix):]) if word.startswith(json_prefix) else word for word in args]


def parse_args(args=None):
    parser = argparse.ArgumentParser()
    parser.add_argument('-t', '--timeout', type=int, default=30)
    parser.add_argument('--socket-url', default=os.environ.get(CTX_SOCKET_URL))
    parser.add_argument('--json-arg-prefix', default='@')
    parser.add_argument('-j', '--json-output', action='store_true')
    parser.add_argument('args', nargs='*')
    given = parser.parse_args(args)
    if not given.socket_url:
        raise RuntimeError('neither --socket-url nor %s says where ctx is' % CTX_SOCKET_URL)
    return given


def main(args=None):
    given = parse_args(args)
    answer = client_req(given.socket_url, process_args(given.json_arg_prefix, given.args), given.timeout)
    sys.stdout.write(json.dumps(answer) if given.json_output else str(answer or ''))


if __name__ == '__main__':
    main()
