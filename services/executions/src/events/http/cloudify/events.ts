/** Fields of the context in the v2.1 of later managers, by the field of v3.1 that each replaces. */
const CONTEXT: Record<string, string> = {
  deployment_id: 'deployment_id',
  execution_id: 'execution_id',
  workflow_id: 'workflow_id',
  operation: 'operation',
  node_instance_id: 'node_id',
  node_name: 'node_name',
};

/** Returns an event in the form that later managers of the original use for v2.1: the old nesting among fields of v3.1. */
export function mixedEvent(event: Record<string, unknown>): Record<string, unknown> {
  const isLog = String(event.type).endsWith('_log');
  const absent = [
    ...Object.keys(CONTEXT),
    'reported_timestamp',
    ...(isLog ? ['event_type'] : ['level', 'logger']),
  ];
  return {
    ...Object.fromEntries(Object.entries(event).filter(([name]) => !absent.includes(name))),
    '@timestamp': event.timestamp,
    message: { text: event.message, arguments: null },
    message_code: null,
    context: Object.fromEntries(Object.entries(CONTEXT).map(([name, key]) => [key, event[name] ?? null])),
  };
}
