import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { archiveOf } from '../../test/harness/session';

/** Blueprints whose operations are implemented by handlers/noop.js (mappings `noop.op` and `noop.told` behind the alias `noop`). */
export interface Shape {
  name: string;
  yaml: string;
  /** Number of operations of one execution. */
  operations: number;
  /** Further files of the blueprint. */
  files?: Record<string, string>;
  /** The workflow to start; absent: `install`. */
  request?: { workflow_id: string; parameters: object };
}

const head = (
  operations: readonly string[],
  mapping = 'noop.op',
): string => `tosca_definitions_version: cloudify_dsl_1_4
imports:
  - cloudify/types/types.yaml
plugins:
  noop: { executor: central_deployment_agent, install: false }
node_types:
  bench.nodes.Noop:
    derived_from: cloudify.nodes.Root
    interfaces:
      cloudify.interfaces.lifecycle:
${operations.map((operation) => `        ${operation}: noop.${mapping}`).join('\n')}
`;

const node = (name: string, targets: readonly string[]): string => `  ${name}:
    type: bench.nodes.Noop
${targets.length === 0 ? '' : '    relationships:\n'}${targets
  .map((target) => `      - { type: cloudify.relationships.depends_on, target: ${target} }\n`)
  .join('')}`;

/** Nodes without relationships, with two operations each. */
export function independent(count: number): Shape {
  const nodes = Array.from({ length: count }, (_, i) => node(`n${i}`, []));
  return {
    name: `independent-${count}`,
    yaml: `${head(['create', 'start'])}node_templates:\n${nodes.join('')}`,
    operations: 2 * count,
  };
}

/** Ten layers; each node depends on two random nodes of the previous layer and has two operations. The graph is always the same. */
export function layered(count: number): Shape {
  const width = Math.ceil(count / 10);
  let seed = 20_261;
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
  };
  const nodes = Array.from({ length: count }, (_, i) => {
    const layer = Math.floor(i / width);
    if (layer === 0) return node(`n${i}`, []);
    const one = random(width);
    const other = (one + 1 + random(width - 1)) % width;
    return node(
      `n${i}`,
      [one, other].map((place) => `n${(layer - 1) * width + place}`),
    );
  });
  return {
    name: `layered-${count}`,
    yaml: `${head(['create', 'start'])}node_templates:\n${nodes.join('')}`,
    operations: 2 * count,
  };
}

/** A chain of nodes with one operation each. `install` also has their states and lifecycle: some eight tasks per node. */
export function chain(length: number): Shape {
  const nodes = Array.from({ length }, (_, i) => node(`n${i}`, i === 0 ? [] : [`n${i - 1}`]));
  return {
    name: `chain-${length}`,
    yaml: `${head(['create'])}node_templates:\n${nodes.join('')}`,
    operations: length,
  };
}

/** One node with one operation, which reports its start (harness/start-times.ts). */
export function told(): Shape {
  const yaml = `${head(['create'], 'noop.told')}node_templates:\n${node('n0', [])}`;
  return { name: 'told', yaml, operations: 1 };
}

/** Sequential operations and nothing else: those of a chain's nodes in the order of their dependencies. */
export function inRow(length: number): Shape {
  return {
    ...chain(length),
    name: `row-${length}`,
    request: {
      workflow_id: 'execute_operation',
      parameters: { operation: 'cloudify.interfaces.lifecycle.create', run_by_dependency_order: true },
    },
  };
}

/** examples/fleet with `members` and no-op operations. */
export function fleetOf(members: number): Shape {
  const yaml = `${head(['create', 'start', 'stop', 'delete'])}node_templates:
${node('base', [])}${node('member', ['base'])}groups:
  fleet: { members: [member] }
policies:
  fleet_scaling:
    type: cloudify.policies.scaling
    targets: [fleet]
    properties: { default_instances: ${members} }
`;
  return { name: `fleet-${members}`, yaml, operations: 2 * (members + 1) };
}

export function archive(shape: Shape): Buffer {
  const root = mkdtempSync(join(tmpdir(), 'baton-bench-'));
  try {
    const folder = join(root, 'blueprint');
    mkdirSync(folder);
    for (const [path, text] of Object.entries({ ...shape.files, 'blueprint.yaml': shape.yaml })) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    return archiveOf(folder);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}
