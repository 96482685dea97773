/** Policy types and triggers of the built-in types: only schemas; these policies are no longer evaluated. */
const text = (value: string): string => `description: ${JSON.stringify(value)}`;
// Clients show and compare descriptions, so they are the texts of the original's types.
const common = (service: string, about: string): string => `
      policy_operates_on_group: {${text('If the policy should maintain its state for the whole group\nor each node instance individually.\n')}, default: false}
      is_node_started_before_workflow: {${text('Before triggering workflow, check if the node state is started')}, default: true}
      interval_between_workflows: {${text('Trigger workflow only if the last workflow was triggered earlier than interval-between-workflows seconds ago.\nif < 0  workflows can run concurrently.\n')}, default: 300}
      service: {${text(about)}, default: ${service}}`;
const threshold = `${common('service', 'The service name')}
      threshold: {${text('The metric threshold value')}}
      upper_bound: {${text('Whether values above the threshold break it; with false values below it do.')}, default: true}
      stability_time: {${text('How long a threshold must be breached before the triggers will be processed')}, default: 0}`;
const source = (name: string): string =>
  `    source: file:///opt/manager/resources/cloudify/policies/${name}.clj`;

export const policiesText = `
policy_types:

  cloudify.policies.types.host_failure:
    properties:${common('[service]', 'Service names whose events should be taken into consideration')}
${source('host_failure')}

  cloudify.policies.types.threshold:
    properties:${threshold}
${source('threshold')}

  cloudify.policies.types.ewma_stabilized:
    properties:${threshold}
      ewma_timeless_r: {${text('r is the ratio between successive events. The smaller it is, the smaller impact on the computed value the most recent event has.\n')}, default: 0.5}
${source('ewma_stabilized')}

policy_triggers:

  cloudify.policies.triggers.execute_workflow:
    parameters:
      workflow: {${text('Workflow name to execute')}}
      workflow_parameters: {${text('Workflow parameters')}, default: {}}
      force: {${text('Should the workflow be executed even when another execution\nfor the same workflow is currently in progress\n')}, default: false}
      allow_custom_parameters: {${text('Should parameters not defined in the workflow parameters\nschema be accepted\n')}, default: false}
      socket_timeout: {${text('Socket timeout when making request to manager REST in ms')}, default: 1000}
      conn_timeout: {${text('Connection timeout when making request to manager REST in ms')}, default: 1000}
${source('triggers/execute_workflow')}
`;
