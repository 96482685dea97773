"""Errors by which an operation says what shall happen next."""
from cloudify.proxy.client import ScriptException  # noqa: F401


class _CausesError(Exception):
    def __init__(self, message='', causes=None, **_):
        super(_CausesError, self).__init__(message)
        self.causes = causes or []


class NonRecoverableError(_CausesError):
    """Trying again is useless."""


class RecoverableError(_CausesError):
    """Another try may succeed, retry_after seconds from now if that is given."""

    def __init__(self, message='', retry_after=None, causes=None, **_):
        if retry_after is not None:
            message = '%s [retry_after=%s]' % (message, retry_after)
        super(RecoverableError, self).__init__(message, causes=causes)
        self.retry_after = retry_after


class OperationRetry(RecoverableError):
    """Not a failure: the operation asks to be run again."""


class HttpException(NonRecoverableError):
    def __init__(self, url, code, message, causes=None):
        super(HttpException, self).__init__('%s (%s) : %s' % (url, code, message), causes=causes)
        self.url = url
        self.code = code
        self.message = message


class CommandExecutionError(RuntimeError):
    def __init__(self, command, error=None):
        super(CommandExecutionError, self).__init__("failed to execute: command='%s', error=%s" % (command, error))
        self.command = command
        self.error = error


class CommandExecutionException(Exception):
    def __init__(self, command, error, output, code):
        text = "command '%s' executed with code %s\nOutput: %s\nError: %s" % (command, code, output, error)
        super(CommandExecutionException, self).__init__(text)
        self.command = command
        self.error = error
        self.output = output
        self.code = code


class ProcessExecutionError(RuntimeError):
    def __init__(self, message, error_type=None, traceback=None):
        super(ProcessExecutionError, self).__init__(message)
        self.error_type = error_type
        self.traceback = traceback


class TimeoutException(Exception):
    pass


class ProcessKillCancelled(NonRecoverableError):
    """The process of the code was killed by a cancel."""


class StopAgent(Exception):
    pass


class WorkflowFailed(RuntimeError):
    pass


class PluginInstallationError(Exception):
    pass


class InvalidBlueprintImport(NonRecoverableError):
    pass


class CloudifySerializationRetry(RecoverableError):
    pass


class ClosedAMQPClientException(Exception):
    pass


class NotInContext(RuntimeError):
    """ctx was used outside an operation."""


class IllegalExecutionParametersError(NonRecoverableError):
    pass


class NodeInstanceUpdateConflict(Exception):
    """Another writer stored runtime properties of the instance first; a plain operation is tried again."""
    status_code = 409
    error_code = 'conflict_error'


NodeInstanceUpdateConflict.__name__ = 'CloudifyClientError'
