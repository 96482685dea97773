import sys

from cloudify.exceptions import NonRecoverableError
from cloudify.utils import exception_to_error_cause

try:
    raise RuntimeError('the saw broke')
except RuntimeError as error:
    cause = exception_to_error_cause(error, sys.exc_info()[2])
raise NonRecoverableError('no wood', causes=[cause])
