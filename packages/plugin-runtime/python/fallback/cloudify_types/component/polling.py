"""Executions of other deployments: whether they have ended, how, and what they told meanwhile."""
import logging

from cloudify import ctx
from cloudify.exceptions import NonRecoverableError
from cloudify.models_states import ExecutionState
from cloudify_types.component.constants import EXECUTIONS_TIMEOUT, PAGINATION_SIZE, POLLING_INTERVAL
from cloudify_types.polling import poll_with_timeout

__all__ = ['is_all_executions_finished', 'is_deployment_execution_at_state', 'poll_with_timeout', 'redirect_logs',
           'verify_execution_state']

_RECEIVED = 'received_events'


def is_all_executions_finished(client, deployment_id=None):
    """Whether no execution of the deployment runs or waits, nor any system workflow."""
    offset, total = 0, 1
    query = {'deployment_id': deployment_id} if deployment_id else {}
    while offset < total:
        found = client.executions.list(include_system_workflows=True, _size=PAGINATION_SIZE, _offset=offset, **query)
        for execution in found:
            is_meant = deployment_id or execution.get('is_system_workflow')
            if is_meant and execution['status'] not in ExecutionState.END_STATES:
                return False
        total = found.metadata.pagination.total
        offset += max(len(found), 1)
    return True


def redirect_logs(client, execution_id, instance_ctx=None):
    """Writes what the execution has told since the last call into the log of this operation."""
    properties = (instance_ctx or ctx.instance).runtime_properties
    received = properties.setdefault(_RECEIVED, {})
    count, total = int(received.get(execution_id) or 0), None
    while count != total:
        events, total = client.events.get(execution_id, count, PAGINATION_SIZE, True)
        if not events:
            break
        for event in events:
            level = logging.getLevelName((event.get('level') or 'info').upper())
            about = '[%s] ' % event['node_instance_id'] if event.get('node_instance_id') else ''
            ctx.logger.log(level if isinstance(level, int) else logging.INFO, '%s %s%s',
                           event.get('reported_timestamp') or '', about, event.get('message') or '')
        count += len(events)
        received[execution_id] = count


def is_deployment_execution_at_state(client, dep_id, state, execution_id, log_redirect=False, instance_ctx=None):
    """Whether the execution is in that state. Raises NonRecoverableError when it never will be."""
    if not execution_id:
        raise NonRecoverableError('There is no execution of deployment "%s" to wait for' % dep_id)
    status = client.executions.get(execution_id)['status']
    if log_redirect:
        redirect_logs(client, execution_id, instance_ctx)
    if status == state:
        return True
    if status in ExecutionState.END_STATES:
        raise NonRecoverableError('The execution "%s" of deployment "%s" is %s' % (execution_id, dep_id, status))
    return False


def verify_execution_state(client, execution_id, deployment_id, redirect_log, workflow_state, timeout=EXECUTIONS_TIMEOUT,
                           interval=POLLING_INTERVAL, instance_ctx=None):
    """Waits until the execution is in that state. Raises NonRecoverableError when it takes longer, or ends otherwise."""
    def is_there():
        return is_deployment_execution_at_state(
            client, deployment_id, workflow_state, execution_id, redirect_log, instance_ctx)
    if not poll_with_timeout(is_there, timeout, interval):
        raise NonRecoverableError('The execution "%s" has not ended after %s seconds' % (execution_id, timeout))
    return True
