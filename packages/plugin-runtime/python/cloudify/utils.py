"""Small things that scripts import from here."""
import importlib
import logging
import os
import random
import shlex
import string
import subprocess
import sys
import tarfile
import tempfile
import threading
import traceback
import uuid
import zipfile

from cloudify import constants, exceptions, manager_place
from cloudify._instants import (  # noqa: F401
    parse_and_apply_timedelta, parse_schedule_datetime_string, parse_utc_datetime, parse_utc_datetime_absolute,
    parse_utc_datetime_relative, unpack_timedelta_string)
from cloudify._values import text_of
from cloudify.context import ctx

ENV_CFY_EXEC_TEMPDIR = CFY_EXEC_TEMPDIR_ENVVAR = 'CFY_EXEC_TEMP'


def exception_to_error_cause(exception, tb):
    """The dictionary that an error carries in its causes."""
    text = ''.join(traceback.format_exception(type(exception), exception, tb))
    return {'message': str(exception), 'type': type(exception).__name__, 'traceback': text}


def setup_logger(logger_name, logger_level=logging.INFO, handlers=None, **_):
    logger = logging.getLogger(logger_name)
    logger.setLevel(logger_level)
    for handler in handlers or [logging.StreamHandler(sys.stdout)]:
        logger.addHandler(handler)
    return logger


def id_generator(size=6, chars=string.ascii_uppercase + string.digits):
    return ''.join(random.SystemRandom().choice(chars) for _ in range(size))


def uuid4():
    return str(uuid.uuid4())


def generate_user_password(password_length=32):
    return id_generator(password_length, string.ascii_letters + string.digits + '-_')


def create_temp_folder():
    return tempfile.mkdtemp()


def get_exec_tempdir():
    return os.environ.get(ENV_CFY_EXEC_TEMPDIR) or tempfile.gettempdir()


class ManagerVersion(object):
    """A version of three numbers; what stands behind a hyphen does not count."""

    def __init__(self, raw_version):
        numbers = [int(part) for part in raw_version.split('-')[0].split('.') if part.isdigit()]
        self.major, self.minor, self.service = (numbers + [0, 0, 0])[:3]

    def _numbers(self):
        return (self.major, self.minor, self.service)

    def greater_than(self, other):
        return self._numbers() > other._numbers()

    def equals(self, other):
        return self._numbers() == other._numbers()

    __gt__, __eq__ = greater_than, equals
    __lt__ = lambda self, other: other.greater_than(self)
    __hash__ = lambda self: hash(self._numbers())
    __str__ = lambda self: '%d.%d.%d' % self._numbers()


def get_executable_path(executable, venv):
    return '%s/bin/%s' % (venv, executable)


def get_python_path(venv):
    return get_executable_path('python', venv)


def format_exception(e):
    return text_of(e)


def _get_current_context():
    """The context of the workflow code or operation that runs. Raises NotInContext outside of both."""
    if not os.environ.get('CTX_SOCKET_URL'):
        raise exceptions.NotInContext('Context required, but no operation or workflow context available.')
    if os.environ.get('BATON_SCRIPT_KIND', '').startswith('workflow'):
        from cloudify.workflows import ctx as workflow
        return workflow
    return ctx


def _of_context(name):
    try:
        return getattr(_get_current_context(), name)
    except exceptions.NotInContext:
        return None


def get_tenant_name():
    return _get_current_context().tenant_name


def get_tenant():
    return _get_current_context().tenant


def get_execution_token():
    return _of_context('execution_token')


def get_execution_id():
    return _of_context('execution_id')


def get_execution_creator_username():
    return _of_context('execution_creator_username')


def get_rest_token():
    return _get_current_context().rest_token


def get_is_bypass_maintenance():
    return False


def get_workflow_parameters():
    return _of_context('workflow_parameters') or {}


get_manager_rest_service_protocol = manager_place.protocol
get_manager_rest_service_host = get_manager_ip = manager_place.hosts
get_manager_rest_service_port = manager_place.port
get_manager_file_server_url = manager_place.file_servers
get_local_rest_certificate = manager_place.certificate
ipv6_url_compat = manager_place.url_host


def get_instances_of_node(rest_client, deployment_id=None, node_id=None, _ctx=None):
    """Instances of a node in the order of their index; of the own one when none is named."""
    context = _ctx or _get_current_context()
    return rest_client.node_instances.list(
        deployment_id=deployment_id or context.deployment.id, node_id=node_id or context.node.id, sort='index')


def get_func(task_name):
    """The function that a mapping names. Raises NonRecoverableError saying what is not there."""
    module_name, _, name = task_name.rpartition('.')
    if not module_name:
        raise exceptions.NonRecoverableError('%s names no function: expected module.function' % task_name)
    try:
        module = importlib.import_module(module_name)
    except ImportError as error:
        raise exceptions.NonRecoverableError('No module named %s (%s)' % (module_name, text_of(error)))
    if not hasattr(module, name):
        raise exceptions.NonRecoverableError("%s has no function named '%s' " % (module_name, name))
    found = getattr(module, name)
    if not callable(found):
        raise exceptions.NonRecoverableError('%s is not callable' % task_name)
    return found


class Internal(object):
    @staticmethod
    def get_install_method(properties):
        """How the agent of a host with those properties is brought onto it."""
        known = {True: constants.AGENT_INSTALL_METHOD_REMOTE, False: constants.AGENT_INSTALL_METHOD_NONE}
        given = properties.get('install_agent')
        if isinstance(given, bool):
            return known[given]
        return (properties.get('agent_config') or {}).get('install_method')


internal = Internal()


def is_management_environment():
    return True


def untar(archive, destination=None):
    destination = destination or tempfile.mkdtemp()
    with tarfile.open(archive) as packed:
        packed.extractall(destination)
    return destination


def unzip(archive, destination=None):
    destination = destination or tempfile.mkdtemp()
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(destination)
    return destination


def extract_archive(source):
    """Unpacks into a fresh folder and answers it. Raises NonRecoverableError for what is no archive."""
    if tarfile.is_tarfile(source):
        return untar(source)
    if zipfile.is_zipfile(source):
        return unzip(source)
    raise exceptions.NonRecoverableError('%s is no archive; expected one of: %s' % (
        source, ', '.join(constants.SUPPORTED_ARCHIVE_TYPES)))


class OutputConsumer(object):
    """Reads lines of a stream in a thread of its own: into a logger, and into `output`."""

    def __init__(self, out, logger, prefix, ctx=None):
        self.out = out
        self.output = []
        self.logger = logger
        self.prefix = prefix
        self.ctx = ctx
        self.consumer = threading.Thread(target=self.consume_output)
        self.consumer.daemon = True
        self.consumer.start()

    def consume_output(self):
        for line in self.out:
            text = line.decode('utf-8', 'replace')
            self.output.append(text)
            self.logger.info('%s%s', self.prefix, text.rstrip('\r\n'))
        self.out.close()

    def join(self):
        self.consumer.join()


class CommandExecutionResponse(object):
    def __init__(self, command, std_out, std_err, return_code):
        self.command = command
        self.std_out = std_out
        self.std_err = std_err
        self.return_code = return_code


class LocalCommandRunner(object):
    def __init__(self, logger=None, host='localhost'):
        self.logger = logger or setup_logger('LocalCommandRunner')
        self.host = host

    def run(self, command, exit_on_failure=True, stdout_pipe=True, stderr_pipe=True, cwd=None, execution_env=None,
            encoding='utf-8'):
        """Runs a command; raises CommandExecutionException unless exit_on_failure is False."""
        if not isinstance(command, (list, tuple)):
            command = shlex.split(command)
        env = dict(os.environ, **(execution_env or {}))
        pipe = subprocess.PIPE
        process = subprocess.Popen(command, stdout=pipe if stdout_pipe else None, stderr=pipe if stderr_pipe else None,
                                   cwd=cwd, env=env)
        out, err = [(text or b'').decode(encoding, 'replace').rstrip() for text in process.communicate()]
        if process.returncode != 0 and exit_on_failure:
            raise exceptions.CommandExecutionException(' '.join(command), err, out, process.returncode)
        return CommandExecutionResponse(' '.join(command), out, err, process.returncode)
