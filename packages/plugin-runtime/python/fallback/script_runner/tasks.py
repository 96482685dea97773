"""What plugins that run programs of their own import: errors, pauses, and the ctx proxy, which runs already."""
import json
import os

from cloudify.proxy.client import CTX_SOCKET_URL, ScriptException  # noqa: F401

ILLEGAL_CTX_OPERATION_ERROR = RuntimeError('ctx may only abort or return once')
UNSUPPORTED_SCRIPT_FEATURE_ERROR = RuntimeError('ctx abort & retry are only supported for scripts')
IS_WINDOWS = os.name == 'nt'
POLL_LOOP_INTERVAL = 0.1
POLL_LOOP_LOG_ITERATIONS = 200


class ProcessException(Exception):
    def __init__(self, command, exit_code, stdout=None, stderr=None):
        super(ProcessException, self).__init__('\n'.join(
            '%s: %s' % pair for pair in (
                ('command', command), ('exit_code', exit_code), ('stdout', stdout), ('stderr', stderr))
            if pair[1] is not None))
        self.command = command
        self.exit_code = exit_code
        self.stdout = stdout
        self.stderr = stderr


class _RunningProxy(object):
    """The proxy of this operation, which serves every process that knows its address."""
    socket_url = property(lambda _: os.environ[CTX_SOCKET_URL])

    def close(self):
        pass


def start_ctx_proxy(ctx=None, process=None):
    return _RunningProxy()


def process_ctx_request(proxy):
    """Requests are answered by the proxy itself."""


def create_process_config(process, operation_kwargs):
    """The process with the other inputs of the operation in its environment, as texts."""
    given = {name: value for name, value in operation_kwargs.items() if name not in ('ctx', 'script_path', 'process')}
    environment = dict(given, **((process or {}).get('env') or {}))
    return dict(process or {}, env={
        str(name): value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for name, value in environment.items()})


def _get_process_environment(process, proxy):
    env = dict(os.environ)
    env.update((str(name), str(value)) for name, value in ((process or {}).get('env') or {}).items())
    env[CTX_SOCKET_URL] = proxy.socket_url
    return env
