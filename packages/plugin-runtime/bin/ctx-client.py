"""The ctx command at hosts without bash; see ./ctx for its options. Runs with Python 2.7 and 3."""
import os
import sys

try:
    from http.client import HTTPConnection
except ImportError:
    from httplib import HTTPConnection

OPTIONS = {'-t': 'wait', '--timeout': 'wait', '--socket-url': 'url', '--json-arg-prefix': 'prefix'}


def read_options(words):
    """Returns the options and the words behind them."""
    wait = os.environ.get('CTX_TIMEOUT') or '30'
    options = {'url': os.environ.get('CTX_SOCKET_URL', ''), 'wait': wait, 'prefix': '@', 'json': '0'}
    while words:
        name, has_value, value = words[0].partition('=')
        if name in OPTIONS:
            options[OPTIONS[name]] = value if has_value else words[1]
            words = words[1 if has_value else 2:]
        elif words[0] in ('-j', '--json-output'):
            options['json'] = '1'
            words = words[1:]
        else:
            break
    return options, words[1:] if words[:1] == ['--'] else words


def netstring(word):
    data = word.encode('utf-8') if not isinstance(word, bytes) else word
    return str(len(data)).encode() + b':' + data + b','


def call(options, words):
    """Returns the exit code and the text of the answer."""
    is_lines = words == ['-']
    if is_lines:
        words = [sys.stdin.read()]
    plain = [word for word in words if word not in ('-j', '--json-output')]
    if len(plain) < len(words):
        options['json'] = '1'
    body = b''.join(netstring(word) for word in [options['prefix'], options['json']] + plain)
    place, _, path = options['url'].split('://', 1)[1].partition('/')
    host, _, port = place.partition(':')
    kind = 'lines' if is_lines else 'args'
    connection = HTTPConnection(host.replace('localhost', '127.0.0.1'), int(port or 80), timeout=float(options['wait']))
    connection.request('POST', '/' + path, body, {'Content-Type': 'application/x-ctx-' + kind})
    answer = connection.getresponse()
    return int(answer.getheader('x-ctx-exit') or 1), answer.read()


def main():
    options, words = read_options(sys.argv[1:])
    if not options['url']:
        sys.stderr.write('RuntimeError: CTX_SOCKET_URL is not set: ctx works only in scripts that the manager runs\n')
        return 1
    try:
        code, text = call(options, words)
    except (OSError, ValueError) as error:
        sys.stderr.write('RuntimeError: no ctx proxy answers at %s: %s\n' % (options['url'], error))
        return 1
    stream = sys.stderr if code else sys.stdout
    getattr(stream, 'buffer', stream).write(text)
    return code


if __name__ == '__main__':
    sys.exit(main())
