/** Blueprints of the tests. */

export const hello = `
tosca_definitions_version: cloudify_dsl_1_4
description: a host and an app
imports: [cloudify/types/types.yaml]
inputs:
  greeting: {type: string, default: hello}
  count: {type: integer, default: 1, constraints: [{in_range: [1, 5]}]}
  must: {}
labels:
  from_plan: {values: ['yes']}
node_templates:
  host:
    type: cloudify.nodes.Root
    interfaces:
      cloudify.interfaces.lifecycle:
        create:
          implementation: p.tasks.create
          inputs: {text: {get_input: greeting}, secret: {get_secret: token}}
  app:
    type: cloudify.nodes.Root
    relationships:
      - {type: cloudify.relationships.connected_to, target: host}
plugins:
  p: {executor: central_deployment_agent, install: false}
groups:
  g1: {members: [app]}
policies:
  scaling: {type: cloudify.policies.scaling, targets: [g1], properties: {default_instances: 1, max_instances: 3}}
outputs:
  said: {value: {get_input: greeting}}
  seen: {value: {get_attribute: [host, msg]}}
capabilities:
  address: {value: {concat: ['http://', {get_attribute: [host, ip]}]}}
`;

export const mini = `
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
node_templates:
  n: {type: cloudify.nodes.Root}
capabilities:
  c1: {value: v1}
`;

/** Its inputs name objects: a deployment, a node and so on. */
export const naming = `
tosca_definitions_version: cloudify_dsl_1_5
imports: [cloudify/types/types.yaml]
inputs:
  environment: {type: deployment_id, required: false}
  key: {type: secret_key, required: false}
  blueprint: {type: blueprint_id, required: false}
  node: {type: node_id, required: false, constraints: [{name_pattern: {starts_with: n}}]}
  far: {type: node_id, required: false, constraints: [{deployment_id: far}]}
  address: {type: capability_value, required: false, constraints: [{deployment_id: far}]}
  operation: {type: operation_name, required: false}
plugins:
  p: {executor: central_deployment_agent, install: false}
node_templates:
  n:
    type: cloudify.nodes.Root
    interfaces: {mine: {check: p.tasks.check}}
  other: {type: cloudify.nodes.Root}
`;

/** Uses a capability of the deployment that a runtime property of its node names. */
export const linked = `
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
node_templates:
  link: {type: cloudify.nodes.Root}
outputs:
  far: {value: {get_capability: [{get_attribute: [link, target]}, address]}}
capabilities:
  address: {value: here}
`;

/** Two components here, one of each component type, one on another manager, and one in another tenant. */
export const composed = `
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
node_templates:
  one: {type: cloudify.nodes.Component}
  two: {type: cloudify.nodes.ServiceComponent}
  remote:
    type: cloudify.nodes.Component
    properties: {client: {host: elsewhere.example}}
  apart:
    type: cloudify.nodes.Component
    properties: {client: {tenant: another}}
  shared:
    type: cloudify.nodes.SharedResource
    properties: {resource_config: {deployment: {id: fourth}}}
  plain: {type: cloudify.nodes.Root}
`;

/** Uses a capability of the deployment named by its input. */
export const consumer = `
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
inputs:
  provider: {default: prov}
node_templates:
  n:
    type: cloudify.nodes.Root
outputs:
  from_there: {value: {get_capability: [{get_input: provider}, address]}}
`;

/** Its node uses a plugin in the given version. */
export const plugged = (version: string): string => `
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
plugins:
  p: {executor: central_deployment_agent, install: false, package_name: probe, package_version: '${version}'}
node_templates:
  n:
    type: cloudify.nodes.Root
    interfaces:
      cloudify.interfaces.lifecycle:
        create: p.tasks.create
`;

export const needsPlugin = `
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
plugins:
  far: {executor: central_deployment_agent, package_name: cloudify-far-plugin, package_version: 1.2.3}
node_templates:
  n:
    type: cloudify.nodes.Root
    interfaces:
      cloudify.interfaces.lifecycle: {create: far.tasks.create}
`;

/** A blueprint without nodes. */
export const empty = `
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
node_templates: {}
`;

/** Its deployments join groups. */
export const grouping = `
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
inputs:
  second: {default: joined-b}
deployment_settings:
  default_groups: [joined-a, {get_input: second}]
`;

/** Its deployment settings contain a template for ids in groups. */
export const named = (template: string) => `
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
deployment_settings:
  id_template: ${template}
  display_name: shown-{uuid}
`;

/** Two trees of instances; containing nodes come after the nodes in them. */
export const contained = `
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
node_templates:
  inner:
    type: cloudify.nodes.Root
    relationships: [{type: cloudify.relationships.contained_in, target: outer}]
  db: {type: cloudify.nodes.Root}
  outer:
    type: cloudify.nodes.Root
    capabilities: {scalable: {properties: {default_instances: 2}}}
`;

/** A node type that derives from another one. */
export const derived = `
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
node_types:
  my.Kind: {derived_from: cloudify.nodes.Root}
node_templates:
  plain: {type: cloudify.nodes.Root}
  special: {type: my.Kind}
`;

/** The successor of `helloFlat`: no app, a new node that the host connects to, an output, one input less. */
export const helloNext = `
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
inputs:
  greeting: {type: string, default: hello}
labels:
  from_next: {values: ['yes']}
node_templates:
  host:
    type: cloudify.nodes.Root
    relationships:
      - {type: cloudify.relationships.connected_to, target: db}
  db:
    type: cloudify.nodes.Root
outputs:
  said: {value: {get_input: greeting}}
`;

/** The predecessor of `helloNext`. */
export const helloFlat = `
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
inputs:
  greeting: {type: string, default: hello}
  gone: {default: 1}
node_templates:
  host:
    type: cloudify.nodes.Root
  app:
    type: cloudify.nodes.Root
    relationships:
      - {type: cloudify.relationships.connected_to, target: host}
`;

/** Two nodes, with the given relationships. */
const twoNodes = (relationships: string): string => `
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
node_templates:
  a: {type: cloudify.nodes.Root}
  b: {type: cloudify.nodes.Root, relationships: ${relationships}}
`;
export const pair = twoNodes('[{type: cloudify.relationships.connected_to, target: a}]');
export const pairApart = twoNodes('[]');

/** A host with an agent whose configuration has functions. */
export const agentHost = `
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
inputs:
  level: {type: string, default: debug}
node_templates:
  host:
    type: cloudify.nodes.Compute
    properties:
      agent_config:
        install_method: remote
        user: app
        key: {get_secret: login-key}
        max_workers: 7
        log_level: {get_input: level}
        env: {PASSWORD: {get_secret: app_password}, WHERE: here}
`;
