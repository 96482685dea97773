/** Returns an event in the nested form of v2.1 (spec v2.1 "Event", reference/rest-api.md 7.4). */
export function legacyEvent(event: Record<string, unknown>): Record<string, unknown> {
  const isLog = String(event.type).endsWith('_log');
  const context = Object.fromEntries(
    Object.entries({
      blueprint_id: event.blueprint_id,
      deployment_id: event.deployment_id,
      execution_id: event.execution_id,
      workflow_id: event.workflow_id,
      operation: event.operation,
      node_id: event.node_instance_id,
      node_name: event.node_name,
    }).filter(([, value]) => value !== null && value !== undefined),
  );
  return {
    type: event.type,
    ...(isLog ? { level: event.level, logger: event.logger } : { event_type: event.event_type }),
    tags: [],
    timestamp: event.reported_timestamp,
    '@timestamp': event.timestamp,
    '@version': '1',
    message_code: null,
    context,
    message: { text: event.message, arguments: null },
    ...(event.error_causes ? { error_causes: event.error_causes } : {}),
  };
}
