"""What handlers of tasks answer, and the engine's words for it."""
from cloudify import exceptions


class HandlerResult(object):
    """What follows from the end of a task: an answer of on_success and on_failure."""
    HANDLER_RETRY = 'handler_retry'
    HANDLER_FAIL = 'handler_fail'
    HANDLER_IGNORE = 'handler_ignore'
    HANDLER_CONTINUE = 'handler_continue'

    def __init__(self, action, ignore_total_retries=False, retry_after=None):
        self.action = action
        self.ignore_total_retries = ignore_total_retries
        self.retry_after = retry_after
        # A task that shall run in place of the one that ended; its members and dependencies are in the graph already.
        self.retried_task = None

    @classmethod
    def retry(cls, ignore_total_retries=False, retry_after=None):
        return cls(cls.HANDLER_RETRY, ignore_total_retries, retry_after)

    @classmethod
    def fail(cls):
        return cls(cls.HANDLER_FAIL)

    @classmethod
    def cont(cls):
        return cls(cls.HANDLER_CONTINUE)

    @classmethod
    def ignore(cls):
        return cls(cls.HANDLER_IGNORE)


def milliseconds(seconds):
    """Whole ms for the engine; None for what is no number of seconds."""
    try:
        after = int(float(seconds) * 1000)
    except (TypeError, ValueError, OverflowError):
        return None
    return after if after >= 0 else None


def decision_of(facts, answer):
    """A HandlerResult as the engine is told about it."""
    go_on = (HandlerResult.HANDLER_CONTINUE, HandlerResult.HANDLER_IGNORE)
    return {
        'idx': facts['idx'],
        'attempt': facts['attempt'],
        'decision': 'go-on' if answer.action in go_on else
        'retry' if answer.action == HandlerResult.HANDLER_RETRY else 'fail',
        'retryAfterMs': milliseconds(answer.retry_after),
        'ignoreTotalRetries': bool(answer.ignore_total_retries),
    }


def retry_failure_handler(task):
    """Runs the task again unless it failed for good."""
    if isinstance(task.result, exceptions.NonRecoverableError):
        return HandlerResult.fail()
    return HandlerResult.retry()
