import {
  boolean,
  dict,
  either,
  integer,
  list,
  named,
  nullable,
  number,
  type ObjectShape,
  object,
  optional,
  required,
  type Shape,
  text,
  value,
} from './shape';

/** The element tables of the definitions language (reference 1 to 5): the only source of checks, namespacing and docs. */

const V1_1 = [1, 1] as const;
const V1_2 = [1, 2] as const;
const V1_3 = [1, 3] as const;
const V1_4 = [1, 4] as const;
const V1_5 = [1, 5] as const;

const propertySchema: ObjectShape = {
  ...object('property schema', {
    type: optional(text('type'), 'Primitive or declared data type; absent means anything.'),
    default: optional(value, 'Value used where none is given.'),
    description: optional(text()),
    required: optional(boolean, 'Whether a value is needed; true by default.', V1_2),
  }),
  nullKind: 'null_schema',
};

const constraints = optional(list(dict), 'Conditions that the value must meet.');

const inputFields = {
  type: optional(text('type'), 'Primitive or declared data type; absent means anything.'),
  default: optional(value, 'Value used where none is given.'),
  description: optional(text()),
  constraints,
  required: optional(boolean, 'Whether a value is needed; true by default.', V1_2),
  item_type: optional(text('type'), 'Type of the items, with type list only.', V1_4),
  display_label: optional(text(), 'Name shown to people.', V1_3),
  hidden: optional(boolean, 'Not shown to people.', V1_3),
  display: optional(object('display', { rows: optional(integer) }), 'Form of a textarea.'),
};
const input = object('input', inputFields);
const operationInputSchema = object('operation input schema', inputFields);

const parameter = object('workflow parameter', {
  type: optional(text('type')),
  default: optional(value),
  description: optional(text()),
  required: optional(boolean, undefined, V1_2),
  item_type: optional(text('type'), undefined, V1_4),
  constraints,
});

const operationFields = (inputs: Shape): ObjectShape['fields'] => ({
  implementation: optional(
    text('implementation'),
    '`plugin.function`, the path of a script, or a script of several lines.',
  ),
  inputs: optional(inputs, 'Inputs of the operation.'),
  executor: optional(text(), 'central_deployment_agent or host_agent.'),
  max_retries: optional(integer, 'Retries after a failure; -1 is without end.', V1_1),
  retry_interval: optional(number, 'Seconds between retries.', V1_1),
  timeout: optional(number, 'Seconds after which the operation is stopped.'),
  timeout_recoverable: optional(boolean, 'Whether a timeout may be retried.'),
});
const typeOperation = either(
  text('implementation'),
  object('operation of a type', operationFields(named(operationInputSchema))),
);
const templateOperation = either(
  text('implementation'),
  object('operation of a template', operationFields(dict)),
);
const typeInterfaces = named(named(typeOperation));
const templateInterfaces = named(named(templateOperation));

const nodeType = object('node type', {
  derived_from: optional(text('type'), 'Parent type.'),
  interfaces: optional(typeInterfaces, 'Operations by interface.'),
  properties: optional(named(propertySchema), 'Schema of the properties.'),
  runtime_properties: optional(named(propertySchema), 'Schema of the runtime properties.'),
});

const relationshipType = object('relationship type', {
  derived_from: optional(text('type'), 'Parent type.'),
  properties: optional(named(propertySchema)),
  source_interfaces: optional(typeInterfaces),
  target_interfaces: optional(typeInterfaces),
});

const relationship = object('relationship', {
  type: required(text('type'), 'Relationship type.'),
  target: required(text('name'), 'Node template.'),
  properties: optional(dict),
  source_interfaces: optional(templateInterfaces),
  target_interfaces: optional(templateInterfaces),
});

/** Values of scaling properties are numbers or functions; `max_instances` also takes UNBOUNDED. */
const scalable = object('scalable', {
  properties: optional(
    object('scaling properties', {
      default_instances: optional(value),
      min_instances: optional(value),
      max_instances: optional(value),
    }),
  ),
});

const nodeTemplate = object('node template', {
  type: required(text('type'), 'Node type.'),
  properties: optional(dict, 'Values of the properties that the type declares.'),
  instances: optional(
    object('instances', { deploy: required(integer, 'Number of instances.') }),
    'Deprecated: use capabilities.',
  ),
  capabilities: optional(
    object('node capabilities', { scalable: optional(scalable) }),
    'Numbers of instances.',
    V1_3,
  ),
  relationships: optional(list(relationship)),
  interfaces: optional(templateInterfaces),
});

const dataType = object('data type', {
  properties: optional(named(propertySchema)),
  derived_from: optional(text('type')),
  description: optional(text()),
  version: optional(text()),
});

const pluginProperty = object('plugin property', {
  type: optional(text()),
  description: optional(text()),
  display_label: optional(text()),
  value: optional(value),
});

const plugin = object('plugin', {
  executor: required(text(), 'central_deployment_agent or host_agent.'),
  source: optional(text()),
  install: optional(boolean, 'Whether the plugin is installed; true by default.'),
  install_arguments: optional(text(), undefined, V1_1),
  package_name: optional(text(), undefined, V1_2),
  package_version: optional(text(), undefined, V1_2),
  supported_platform: optional(text(), undefined, V1_2),
  distribution: optional(text(), undefined, V1_2),
  distribution_version: optional(text(), undefined, V1_2),
  distribution_release: optional(text(), undefined, V1_2),
  properties_description: optional(text(), undefined, V1_5),
  properties: optional(named(pluginProperty), 'Properties that importers may set.', V1_5),
});

const workflow = either(
  text('implementation'),
  object('workflow', {
    mapping: required(text('implementation'), '`plugin.function` or the path of a script.'),
    parameters: optional(named(parameter)),
    is_cascading: optional(boolean, 'Also run on the deployments of service components.'),
    availability_rules: optional(
      object('availability rules', {
        available: optional(boolean),
        node_instances_active: optional(list(nullable(text())), 'Some of all, partial, none.'),
        node_types_required: optional(list(text('type'))),
      }),
      'When the workflow may run.',
      V1_4,
    ),
  }),
);

const policySchema = object('property schema', propertySchema.fields);
const policyType = object('policy type', {
  source: required(text()),
  properties: optional(named(policySchema)),
});
const policyTrigger = object('policy trigger', {
  source: required(text()),
  parameters: optional(named(policySchema)),
});

const groupPolicy = object('group policy', {
  type: required(text('type')),
  properties: optional(dict),
  triggers: optional(named(object('trigger', { type: required(text('type')), parameters: optional(dict) }))),
});
const group = object('group', {
  members: required(list(nullable(text('name'))), 'Node templates and groups.'),
  policies: optional(named(groupPolicy)),
});
const policy = object('policy', {
  type: required(text('type'), 'cloudify.policies.scaling.'),
  properties: optional(
    object('policy properties', {
      default_instances: optional(value),
      min_instances: optional(value),
      max_instances: optional(value),
    }),
  ),
  targets: required(list(nullable(text('name'))), 'Groups.'),
});

const output = object('output', { value: required(value), description: optional(text()) });
const label = object('label', { values: required(list(value)) });

const schedule = object('schedule', {
  workflow: required(text()),
  since: required(text(), 'First time: `+1h`, `YYYY-MM-DD HH:MM` or `HH:MM`.'),
  until: optional(text()),
  recurrence: optional(text(), 'Time delta such as `1d`.'),
  timezone: optional(text()),
  weekdays: optional(list(text())),
  count: optional(integer),
  slip: optional(integer),
  default_enabled: optional(boolean),
  stop_after_fail: optional(boolean),
  execution_arguments: optional(
    object('execution arguments', {
      force: optional(boolean),
      is_dry_run: optional(boolean),
      wait_after_fail: optional(integer),
      allow_custom_parameters: optional(boolean),
    }),
  ),
  workflow_parameters: optional(dict),
});

const deploymentSettings = object('deployment settings', {
  default_schedules: optional(named(schedule)),
  default_groups: optional(list(value), 'Groups that a deployment joins: ids or functions.'),
  id_template: optional(text()),
  display_name: optional(either(text(), dict), 'Text or function.'),
});

/** The whole document. `imports` is checked where imports are read. */
export const blueprintShape = object('blueprint', {
  tosca_definitions_version: optional(text(), 'cloudify_dsl_1_0 to cloudify_dsl_1_5.'),
  description: optional(text(), 'Text for people.', V1_2),
  imports: optional(list(value), 'Files, addresses, `plugin:NAME` and `ns--blueprint:ID`.'),
  dsl_definitions: optional(either(dict, list(value)), 'A place for anchors; otherwise ignored.', V1_2),
  metadata: optional({ t: 'dict' }, 'Free mapping.'),
  inputs: optional(named(input), 'What a deployment may be given.'),
  plugins: optional(named(plugin)),
  node_types: optional(named(nodeType)),
  relationships: optional(named(relationshipType)),
  node_templates: optional(named(nodeTemplate)),
  policy_types: optional(named(policyType)),
  policy_triggers: optional(named(policyTrigger)),
  groups: optional(named(group)),
  policies: optional(named(policy), 'Scaling policies.', V1_3),
  workflows: optional(named(workflow)),
  outputs: optional(named(output)),
  data_types: optional(named(dataType), undefined, V1_2),
  capabilities: optional(named(output), 'Values that other deployments may read.'),
  labels: optional(named(label), 'Labels of the deployment.'),
  blueprint_labels: optional(named(label), 'Labels of the blueprint.'),
  deployment_settings: optional(deploymentSettings),
  resource_tags: optional(named(value), undefined, V1_3),
  imported_blueprints: optional(list(text()), 'Internal: ids of imported blueprints.'),
  namespaces_mapping: optional(named(text()), 'Internal: namespace to id of the imported blueprint.'),
});

/** Sections whose entry names do not get a prefix under a namespace. */
export const unprefixedSections: ReadonlySet<string> = new Set([
  'tosca_definitions_version',
  'description',
  'imports',
  'dsl_definitions',
  'imported_blueprints',
]);
