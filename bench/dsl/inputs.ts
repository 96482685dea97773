/** Blueprints of any size: a tree of nodes, and a chain of types. */

const HEAD = `tosca_definitions_version: cloudify_dsl_1_5
plugins:
  p: {executor: central_deployment_agent, install: false}
relationships:
  cloudify.relationships.depends_on:
    properties:
      connection_type: {default: all_to_all}
  cloudify.relationships.connected_to:
    derived_from: cloudify.relationships.depends_on
`;

const OPERATIONS = `    interfaces:
      cloudify.interfaces.lifecycle:
        create: {implementation: p.mod.create, inputs: {size: {type: integer, default: 1}}}
        configure: p.mod.configure
        start: p.mod.start
        stop: p.mod.stop
`;

const BUILT_IN = `tosca_definitions_version: cloudify_dsl_1_5
imports:
  - cloudify/types/types.yaml
plugins:
  p: {executor: central_deployment_agent, install: false}
`;

/**
 * Returns a blueprint with `count` nodes of one type with four operations. Node i is connected to node i/2, except for the first.
 */
export function treeOfNodes(count: number, usesBuiltInTypes = false): string {
  const parent = usesBuiltInTypes ? '    derived_from: cloudify.nodes.Root\n' : '';
  const lines = [
    usesBuiltInTypes ? BUILT_IN : HEAD,
    `node_types:\n  app:\n${parent}    properties:\n      name: {type: string}\n      size: {type: integer, default: 1}\n`,
    OPERATIONS,
    'node_templates:\n',
  ];
  for (let i = 0; i < count; i++) {
    lines.push(`  node_${i}:\n    type: app\n    properties:\n      name: node number ${i}\n`);
    if (i > 0)
      lines.push(
        `    relationships:\n      - type: cloudify.relationships.connected_to\n        target: node_${Math.floor(i / 2)}\n`,
      );
  }
  return lines.join('');
}

/**
 * Returns a blueprint with `count` node types, each derived from the previous one with one more property, and one node of the
 * last type.
 */
export function chainOfTypes(count: number): string {
  const lines = [HEAD, 'node_types:\n  type_0:\n', OPERATIONS];
  for (let i = 1; i < count; i++)
    lines.push(
      `  type_${i}:\n    derived_from: type_${i - 1}\n    properties:\n      property_${i}: {default: ${i}}\n`,
    );
  lines.push(`node_templates:\n  last:\n    type: type_${count - 1}\n`);
  return lines.join('');
}
