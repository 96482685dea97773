/** Data types of the built-in types (reference 5.7, fourth table). */
const optional = (name: string, type: string | null): string =>
  `      ${name}: {${type === null ? '' : `type: ${type}, `}required: false}`;
const several = (properties: Record<string, string | null>): string =>
  Object.entries(properties)
    .map(([name, type]) => optional(name, type))
    .join('\n');

/** Ids have their own types from 1_4 on. */
// A single text without logic: splitting it would make it harder to read.
// eslint-disable-next-line max-lines-per-function
export function dataTypesText(hasObjectTypes: boolean): string {
  const blueprintId = hasObjectTypes ? 'blueprint_id' : 'string';
  const deploymentId = hasObjectTypes ? 'deployment_id' : 'string';
  return `
data_types:

  # How an agent gets onto a machine and runs there.
  cloudify.datatypes.AgentConfig:
    properties:
      install_method: {description: 'none, remote, init_script, plugin or provided.', type: string}
${several({
  service_name: 'string',
  network: 'string',
  user: 'string',
  key: 'string',
  password: 'string',
  port: 'integer',
  process_management: null,
  min_workers: 'integer',
  max_workers: 'integer',
  heartbeat: null,
  disable_requiretty: 'boolean',
  env: null,
  extra: null,
  executable_temp_path: 'string',
  log_level: 'string',
  log_max_bytes: 'integer',
  log_max_history: 'integer',
})}

  cloudify.datatypes.Blueprint:
    properties:
      external_resource: {description: The blueprint exists already., type: boolean, default: false}
${optional('id', blueprintId)}
      main_file_name: {type: string, default: blueprint.yaml}
      blueprint_archive: {description: Address of the archive., type: string, default: ''}
${optional('labels', 'list')}

  cloudify.datatypes.ComponentDeployment:
    properties:
      external_resource: {description: The deployment exists already., type: boolean, default: false}
${optional('id', deploymentId)}
      inputs: {type: dict, default: {}}
${several({ logs: 'boolean', auto_inc_suffix: 'boolean', labels: 'list' })}

  cloudify.datatypes.Component:
    properties:
      blueprint: {type: cloudify.datatypes.Blueprint}
      deployment: {type: cloudify.datatypes.ComponentDeployment}
      executions_start_args: {type: dict, default: {}}

  cloudify.datatypes.RemoteCloudifyManagerClient:
    properties:
${several({
  host: 'string',
  port: 'integer',
  protocol: 'string',
  api_version: 'string',
  headers: 'dict',
  query_params: 'dict',
  cert: 'string',
  trust_all: 'boolean',
  username: 'string',
  password: 'string',
  token: 'string',
  tenant: 'string',
})}

  cloudify.datatypes.SharedResourceDeployment:
    properties:
      id: {type: ${deploymentId}}

  cloudify.datatypes.SharedResource:
    properties:
      deployment: {type: cloudify.datatypes.SharedResourceDeployment}
`;
}
