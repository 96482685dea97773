"""Executions and what their states are called."""
from cloudify.models_states import ExecutionState
from cloudify_rest_client.responses import Record


class Execution(Record):
    TERMINATED = ExecutionState.TERMINATED
    FAILED = ExecutionState.FAILED
    CANCELLED = ExecutionState.CANCELLED
    PENDING = ExecutionState.PENDING
    STARTED = ExecutionState.STARTED
    CANCELLING = ExecutionState.CANCELLING
    FORCE_CANCELLING = ExecutionState.FORCE_CANCELLING
    KILL_CANCELLING = ExecutionState.KILL_CANCELLING
    SCHEDULED = ExecutionState.SCHEDULED
    QUEUED = ExecutionState.QUEUED
    END_STATES = ExecutionState.END_STATES
