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


class SnapshotState(object):
    CREATED = 'created'
    FAILED = 'failed'
    CREATING = 'creating'
    UPLOADED = 'uploaded'

    STATES = [CREATED, FAILED, CREATING, UPLOADED]
    END_STATES = [CREATED, FAILED, UPLOADED]


class LogBundleState(SnapshotState):
    pass


class DeploymentState(object):
    """Of a deployment, of whether it is installed, and of its latest execution."""
    ACTIVE = 'active'
    INACTIVE = 'inactive'
    IN_PROGRESS = 'in_progress'
    COMPLETED = 'completed'
    FAILED = 'failed'
    CANCELLED = 'cancelled'
    GOOD = 'good'
    REQUIRE_ATTENTION = 'requires_attention'

    EXECUTION_STATES_SUMMARY = dict(
        [(state, 'in_progress') for state in ExecutionState.IN_PROGRESS_STATES + ExecutionState.QUEUED_STATE],
        terminated=COMPLETED, failed=FAILED, cancelled=CANCELLED)


class AgentState(object):
    CREATING = 'creating'
    CREATED = 'created'
    CONFIGURING = 'configuring'
    CONFIGURED = 'configured'
    STARTING = 'starting'
    STARTED = 'started'
    STOPPING = 'stopping'
    STOPPED = 'stopped'
    DELETING = 'deleting'
    DELETED = 'deleted'
    RESTARTING = 'restarting'
    RESTARTED = 'restarted'
    RESTORED = 'restored'
    UPGRADING = 'upgrading'
    UPGRADED = 'upgraded'
    NONRESPONSIVE = 'nonresponsive'
    FAILED = 'failed'

    STATES = [CREATING, CREATED, CONFIGURING, CONFIGURED, STARTING, STARTED, STOPPING, STOPPED, DELETING, DELETED,
              RESTARTING, RESTARTED, UPGRADING, UPGRADED, FAILED, NONRESPONSIVE, RESTORED]


class PluginInstallationState(object):
    PENDING = 'pending-install'
    INSTALLING = 'installing'
    INSTALLED = 'installed'
    ERROR = 'error'
    PENDING_UNINSTALL = 'pending-uninstall'
    UNINSTALLING = 'uninstalling'
    UNINSTALLED = 'uninstalled'


class BlueprintUploadState(object):
    PENDING = 'pending'
    VALIDATING = 'validating'
    UPLOADING = 'uploading'
    EXTRACTING = 'extracting'
    PARSING = 'parsing'
    UPLOADED = 'uploaded'
    FAILED_UPLOADING = 'failed_uploading'
    FAILED_EXTRACTING = 'failed_extracting'
    FAILED_PARSING = 'failed_parsing'
    FAILED_EXTRACTING_TO_FILE_SERVER = 'failed_extracting_to_file_server'
    INVALID = 'invalid'

    FAILED_STATES = [FAILED_UPLOADING, FAILED_EXTRACTING, FAILED_PARSING, FAILED_EXTRACTING_TO_FILE_SERVER, INVALID]
    END_STATES = FAILED_STATES + [UPLOADED]
    STATES = END_STATES + [PENDING, UPLOADING, EXTRACTING, PARSING]
