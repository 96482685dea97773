import cloudify.workflows
