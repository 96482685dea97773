"""What workflow code asks about a cancel of its execution."""
import threading
import time

from cloudify.workflows.engine_call import engine

EXECUTION_CANCELLED_RESULT = 'execution_cancelled'

cancel_request = False
kill_request = False

# Seconds between looks for a cancel while somebody wants to be called.
_LOOK = 0.5


class ExecutionCancelled(Exception):
    """Raised by workflow code, or by what it waits for, when its execution is being cancelled."""


class _Callbacks(set):
    """Functions without arguments, each called once, in a thread of its own, when the cancel comes."""

    def __init__(self, modes):
        super(_Callbacks, self).__init__()
        self._modes = modes
        self._is_watched = False

    def add(self, callback):
        super(_Callbacks, self).add(callback)
        if not self._is_watched:
            self._is_watched = True
            thread = threading.Thread(target=self._watch)
            thread.daemon = True
            thread.start()

    def _watch(self):
        while engine('wf_cancel') not in self._modes:
            time.sleep(_LOOK)
        for callback in list(self):
            callback()


cancel_callbacks = _Callbacks(('cancel', 'force-cancel', 'kill'))
kill_callbacks = _Callbacks(('kill',))


def has_cancel_request():
    """Whether somebody asked for a cancel; stopping in time is up to the workflow."""
    return engine('wf_cancel') != ''


def has_force_cancel_request():
    return engine('wf_cancel') in ('force-cancel', 'kill')


def has_kill_request():
    return engine('wf_cancel') == 'kill'
