"""States that workflow code and plugins compare with."""


class ExecutionState(object):
    TERMINATED = 'terminated'
    FAILED = 'failed'
    CANCELLED = 'cancelled'
    PENDING = 'pending'
    STARTED = 'started'
    CANCELLING = 'cancelling'
    FORCE_CANCELLING = 'force_cancelling'
    KILL_CANCELLING = 'kill_cancelling'
    SCHEDULED = 'scheduled'
    QUEUED = 'queued'

    STATES = [TERMINATED, FAILED, CANCELLED, PENDING, STARTED, CANCELLING, FORCE_CANCELLING, KILL_CANCELLING, QUEUED,
              SCHEDULED]
    QUEUED_STATE = [QUEUED]
    WAITING_STATES = [SCHEDULED, QUEUED]
    END_STATES = [TERMINATED, FAILED, CANCELLED]
    IN_PROGRESS_STATES = [PENDING, STARTED, CANCELLING, FORCE_CANCELLING, KILL_CANCELLING]
    ACTIVE_STATES = IN_PROGRESS_STATES


class DeploymentModificationState(object):
    STARTED = 'started'
    FINISHED = 'finished'
    ROLLEDBACK = 'rolledback'

    STATES = [STARTED, FINISHED, ROLLEDBACK]
    END_STATES = [FINISHED, ROLLEDBACK]


class VisibilityState(object):
    PRIVATE = 'private'
    TENANT = 'tenant'
    GLOBAL = 'global'

    STATES = [PRIVATE, TENANT, GLOBAL]
