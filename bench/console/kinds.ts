import type { Shape } from '../harness/blueprints';

/**
 * Returns ten layers of nodes of many types. The drawing groups nodes by type, so it has as many boxes as types. Nothing is ever
 * installed.
 */
export function ofKinds(count: number, kinds: number): Shape {
  const width = Math.ceil(count / 10);
  const types = Array.from(
    { length: kinds },
    (_, i) => `  bench.nodes.Kind${i}: { derived_from: cloudify.nodes.Root }\n`,
  );
  const nodes = Array.from({ length: count }, (_, i) => {
    const below = i - width;
    const relation =
      below < 0
        ? ''
        : `\n    relationships: [{ type: cloudify.relationships.depends_on, target: n${below} }]`;
    return `  n${i}:\n    type: bench.nodes.Kind${i % kinds}${relation}\n`;
  });
  return {
    name: `kinds-${count}-${kinds}`,
    yaml: `tosca_definitions_version: cloudify_dsl_1_4
imports:
  - cloudify/types/types.yaml
node_types:
${types.join('')}node_templates:
${nodes.join('')}`,
    operations: 0,
  };
}
