"""Names that plugins compare with."""
NODE_INSTANCE = 'node-instance'
RELATIONSHIP_INSTANCE = 'relationship-instance'
DEPLOYMENT = 'deployment'
COMPUTE_NODE_TYPE = 'cloudify.nodes.Compute'

TASK_PENDING = 'pending'
TASK_SENDING = 'sending'
TASK_SENT = 'sent'
TASK_STARTED = 'started'
TASK_RESCHEDULED = 'rescheduled'
TASK_RESPONSE_SENT = 'response-sent'
TASK_SUCCEEDED = 'succeeded'
TASK_FAILED = 'failed'
