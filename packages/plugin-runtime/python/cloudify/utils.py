"""Small things that scripts import from here."""
import logging
import os
import random
import shlex
import string
import subprocess
import sys
import tempfile
import traceback
import uuid

from cloudify import exceptions
from cloudify.context import ctx


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
    return os.environ.get('CFY_EXEC_TEMP') or tempfile.gettempdir()


def get_tenant_name():
    return ctx.tenant_name


def get_tenant():
    return ctx.tenant


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
