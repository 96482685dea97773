/** Policy types and triggers of the built-in types: schemas only, nothing evaluates these policies any more. */
const common = (service: string): string => `
      policy_operates_on_group: {default: false}
      is_node_started_before_workflow: {default: true}
      interval_between_workflows: {description: Seconds., default: 300}
      service: {default: ${service}}`;
const threshold = `${common('service')}
      threshold: {description: The value not to pass.}
      upper_bound: {default: true}
      stability_time: {description: Seconds., default: 0}`;
const source = (name: string): string =>
  `    source: file:///opt/manager/resources/cloudify/policies/${name}.clj`;

export const policiesText = `
policy_types:

  cloudify.policies.types.host_failure:
    properties:${common('[service]')}
${source('host_failure')}

  cloudify.policies.types.threshold:
    properties:${threshold}
${source('threshold')}

  cloudify.policies.types.ewma_stabilized:
    properties:${threshold}
      ewma_timeless_r: {default: 0.5}
${source('ewma_stabilized')}

policy_triggers:

  cloudify.policies.triggers.execute_workflow:
    parameters:
      workflow: {description: Workflow to run.}
      workflow_parameters: {default: {}}
      force: {default: false}
      allow_custom_parameters: {default: false}
      socket_timeout: {description: Milliseconds., default: 1000}
      conn_timeout: {description: Milliseconds., default: 1000}
${source('triggers/execute_workflow')}
`;
