"""Names and seconds."""
SHARED_RESOURCE_TYPE = 'cloudify.nodes.SharedResource'
WORKFLOW_EXECUTION_TIMEOUT = 1800
