"""What workflow code asks about a cancel of its execution."""
from cloudify.workflows.engine_call import engine

EXECUTION_CANCELLED_RESULT = 'execution_cancelled'

cancel_request = False
kill_request = False
cancel_callbacks = set()
kill_callbacks = set()


class ExecutionCancelled(Exception):
    """Raised by workflow code, or by what it waits for, when its execution is being cancelled."""


def has_cancel_request():
    """Whether somebody asked for a cancel; stopping in time is up to the workflow."""
    return engine('wf_cancel') != ''


def has_force_cancel_request():
    return engine('wf_cancel') in ('force-cancel', 'kill')


def has_kill_request():
    return engine('wf_cancel') == 'kill'
