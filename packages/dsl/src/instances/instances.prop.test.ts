import fc from 'fast-check';
import {
  expandInstances,
  modifyInstances,
  type NodeInstance,
  type ParsedPlan,
  type PlanNode,
  parseBlueprint,
  prepareDeploymentPlan,
} from '../index';

const EFFORT = Number(process.env.BATON_PROP_EFFORT ?? 1);

/** A random forest of nodes: each has a container among the earlier ones, connections to earlier ones, and a count. */
interface Shape {
  nodes: { container: number | null; connections: number[]; count: number; isOne: boolean }[];
  group: { members: number[]; count: number } | null;
}

const shape: fc.Arbitrary<Shape> = fc.integer({ min: 1, max: 7 }).chain((size) =>
  fc.record({
    nodes: fc.tuple(
      ...Array.from({ length: size }, (_, i) =>
        fc.record({
          container:
            i === 0 ? fc.constant(null) : fc.option(fc.integer({ min: 0, max: i - 1 }), { nil: null }),
          connections:
            i === 0
              ? fc.constant<number[]>([])
              : fc.uniqueArray(fc.integer({ min: 0, max: i - 1 }), { maxLength: 2 }),
          count: fc.integer({ min: 0, max: 3 }),
          isOne: fc.boolean(),
        }),
      ),
    ),
    // only nodes without a container: the parser refuses mixed groups
    group: fc.option(
      fc.record({
        members: fc.uniqueArray(fc.integer({ min: 0, max: size - 1 }), { minLength: 1, maxLength: 3 }),
        count: fc.integer({ min: 1, max: 2 }),
      }),
      { nil: null },
    ),
  }),
);

const DEPENDS = 'cloudify.relationships.depends_on';
const name = (i: number): string => `n${i}`;

function nodesOf({ nodes }: Shape, order: (list: PlanNode[]) => PlanNode[] = (l) => l): PlanNode[] {
  const plan = nodes.map(({ container, connections, count, isOne }, i) => {
    const relationship = (target: number, type: string, connection_type: string) => ({
      type,
      target_id: name(target),
      properties: { connection_type },
      type_hierarchy: [DEPENDS, type],
      source_interfaces: {},
      target_interfaces: {},
      source_operations: {},
      target_operations: {},
    });
    return {
      id: name(i),
      name: name(i),
      type: 't',
      type_hierarchy: ['t'],
      properties: {},
      operations: {},
      interfaces: {},
      instances: {},
      plugins: [],
      deployment_plugins_to_install: [],
      capabilities: {
        scalable: {
          properties: {
            current_instances: count,
            default_instances: count,
            planned_instances: count,
            min_instances: 0,
            max_instances: -1,
          },
        },
      },
      ...(i % 2 === 0 && container === null ? { host_id: name(i) } : {}),
      relationships: [
        ...connections
          .filter((c) => c !== container)
          .map((c) =>
            relationship(c, 'cloudify.relationships.connected_to', isOne ? 'all_to_one' : 'all_to_all'),
          ),
        ...(container === null
          ? []
          : [relationship(container, 'cloudify.relationships.contained_in', 'all_to_all')]),
      ],
    } as PlanNode;
  });
  return order(plan);
}

function groupsOf({ nodes, group }: Shape): ParsedPlan['scaling_groups'] {
  const members = (group?.members ?? []).filter(
    (m) =>
      nodes[m]!.container === null &&
      !nodes.some((n) => n.container === null && n.isOne && n.connections.includes(m)),
  );
  const free = members.filter((m) => nodes[m]!.connections.length === 0 || !nodes[m]!.isOne);
  if (!group || free.length === 0) return {};
  const properties = {
    current_instances: group.count,
    default_instances: group.count,
    planned_instances: group.count,
    min_instances: 0,
    max_instances: -1,
  };
  return { g: { members: free.map(name), properties } };
}

function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1664525 + 1013904223) >>> 0;
    return state / 4294967296;
  };
}

function expand(s: Shape, seed = 1): NodeInstance[] | null {
  const expanded = expandInstances({ nodes: nodesOf(s), scaling_groups: groupsOf(s) }, [], numbers(seed));
  return expanded.ok ? expanded.value : null;
}

/** Returns instances in a canonical order. */
function canonical(instances: readonly NodeInstance[]): unknown {
  const key = (v: unknown): string => JSON.stringify(v);
  return instances
    .map((i) => ({ ...i, relationships: [...i.relationships].map(key).sort() }))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
}

describe('expansion', () => {
  it('multiplies counts along containment, links to the own container, and names hosts', () => {
    fc.assert(
      fc.property(shape, (s) => {
        const instances = expand(s);
        if (instances === null) return;
        const groups = groupsOf(s);
        const byId = new Map(instances.map((i) => [i.id, i]));
        expect(byId.size).toBe(instances.length);
        const factor = (i: number): number => {
          const { container, count } = s.nodes[i]!;
          const inGroup = groups.g?.members.includes(name(i)) ? s.group!.count : 1;
          return count * inGroup * (container === null ? 1 : factor(container));
        };
        s.nodes.forEach((_node, i) =>
          expect(instances.filter((x) => x.node_id === name(i))).toHaveLength(factor(i)),
        );
        for (const instance of instances) {
          expect(instance.id).toMatch(new RegExp(`^${instance.node_id}_[a-z0-9]{6}$`));
          const node = s.nodes[Number(instance.node_id.slice(1))]!;
          const containers = instance.relationships.filter((r) => r.type.endsWith('contained_in'));
          expect(containers).toHaveLength(node.container === null ? 0 : 1);
          for (const r of instance.relationships) expect(byId.get(r.target_id)?.node_id).toBe(r.target_name);
          const container = containers[0] ? byId.get(containers[0].target_id) : undefined;
          const isHost = nodesOf(s)[Number(instance.node_id.slice(1))]!.host_id !== undefined;
          expect(instance.host_id).toBe(container?.host_id ?? (isHost ? instance.id : undefined));
        }
      }),
      { numRuns: Math.ceil(400 * EFFORT) },
    );
  });

  it('finds free ids even with a poor source of numbers', () => {
    const s: Shape = { nodes: [{ container: null, connections: [], count: 40, isOne: false }], group: null };
    const expanded = expandInstances({ nodes: nodesOf(s), scaling_groups: {} }, ['n0_aaaaaa'], () => 0);
    expect(expanded.ok && new Set([...expanded.value.map((i) => i.id), 'n0_aaaaaa']).size).toBe(41);
  });
});

/** Returns the instances of a deployment after a modification. */
function apply(
  previous: readonly NodeInstance[],
  m: Extract<ReturnType<typeof modifyInstances>, { ok: true }>['value'],
): NodeInstance[] {
  const result = new Map(previous.map((i) => [i.id, { ...i, relationships: [...i.relationships] }]));
  for (const { modification, ...i } of m.added_and_related)
    if (modification === 'added') result.set(i.id, { ...i, relationships: [...i.relationships] });
  for (const i of m.extended_and_related)
    if (i.modification === 'extended') result.get(i.id)?.relationships.push(...i.relationships);
  for (const i of m.reduced_and_related) {
    const own = i.modification === 'reduced' ? result.get(i.id) : undefined;
    if (own)
      own.relationships = own.relationships.filter(
        (r) => !i.relationships.some((gone) => gone.target_id === r.target_id),
      );
  }
  for (const i of m.removed_and_related) if (i.modification === 'removed') result.delete(i.id);
  return [...result.values()];
}

describe('modification', () => {
  it('undoes itself: scaling out and back in by the added ids gives what was there', () => {
    fc.assert(
      fc.property(shape, fc.nat(6), fc.integer({ min: 1, max: 2 }), (s, pick, more) => {
        const before = expand(s);
        const target = pick % s.nodes.length;
        const { count } = s.nodes[target]!;
        if (before === null || before.length === 0) return;
        // all_to_one needs a target that existed before; without one there is no state to go back to
        if (count === 0) return;
        const nodes = nodesOf(s);
        const scalingGroups = groupsOf(s);
        const request = { nodes, previousNodes: nodes, scalingGroups, random: numbers(7) };
        const out = modifyInstances({
          ...request,
          previousInstances: before,
          modifiedNodes: { [name(target)]: { instances: count + more } },
        });
        if (!out.ok) throw new Error(out.error.message);
        const larger = apply(before, out.value);
        const added = out.value.added_and_related.filter((i) => i.modification === 'added').map((i) => i.id);
        expect(larger.length).toBe(before.length + added.length);
        const back = modifyInstances({
          ...request,
          previousInstances: larger,
          modifiedNodes: { [name(target)]: { instances: count, removed_ids_include_hint: added } },
        });
        if (!back.ok) throw new Error(back.error.message);
        expect(canonical(apply(larger, back.value))).toEqual(canonical(before));
      }),
      { numRuns: Math.ceil(400 * EFFORT) },
    );
  });

  it('changes nothing when nothing is asked for', () => {
    fc.assert(
      fc.property(shape, (s) => {
        const before = expand(s);
        if (before === null) return;
        const nodes = nodesOf(s);
        const same = modifyInstances({
          nodes,
          previousNodes: nodes,
          previousInstances: before,
          modifiedNodes: {},
          scalingGroups: groupsOf(s),
          random: Math.random,
        });
        expect(same).toEqual({
          ok: true,
          value: {
            added_and_related: [],
            extended_and_related: [],
            reduced_and_related: [],
            removed_and_related: [],
          },
        });
      }),
    );
  });

  it('keeps what the hints spare and removes what they name', () => {
    const s: Shape = { nodes: [{ container: null, connections: [], count: 4, isOne: false }], group: null };
    const before = expand(s)!;
    const nodes = nodesOf(s);
    const removedBy = (hints: object): string[] => {
      const m = modifyInstances({
        nodes,
        previousNodes: nodes,
        previousInstances: before,
        modifiedNodes: { n0: { instances: 2, ...hints } },
        scalingGroups: {},
        random: Math.random,
      });
      return m.ok ? m.value.removed_and_related.map((i) => i.id).sort() : [];
    };
    const [a, b, c, d] = before.map((i) => i.id) as [string, string, string, string];
    expect(removedBy({ removed_ids_include_hint: [d, c, b] })).toHaveLength(2);
    expect(removedBy({ removed_ids_include_hint: [d], removed_ids_exclude_hint: [a, b] })).toEqual(
      [c, d].sort(),
    );
    expect(removedBy({ removed_ids_exclude_hint: [a, b, c, d] })).toHaveLength(2);
  });
});

describe('plans', () => {
  const sections = [
    'inputs: {b: {default: 1}, a: {default: 2}}',
    'plugins: {p: {executor: central_deployment_agent, install: false}, script: {executor: host_agent, install: false}}',
    'node_types: {z: {properties: {k: {}, j: {default: 1}}}, y: {derived_from: z, interfaces: {i: {o: p.o}}}}',
    'relationships: {cloudify.relationships.depends_on: {properties: {connection_type: {default: all_to_all}}}}',
    'node_templates: {m: {type: y, properties: {k: {get_input: a}}, relationships: [{type: cloudify.relationships.depends_on, target: l}]}, l: {type: z, properties: {k: {get_input: b}}}}',
    'workflows: {w: p.w, v: {mapping: p.v}}',
    'outputs: {o: {value: {get_property: [m, k]}}}',
    'groups: {g: {members: [l]}}',
    'policies: {s: {type: cloudify.policies.scaling, targets: [g]}}',
  ];

  it('do not depend on the order of keys', async () => {
    const planOf = async (order: string[]): Promise<unknown> => {
      const { plan } = await parseBlueprint({
        text: ['tosca_definitions_version: cloudify_dsl_1_5', ...order].join('\n'),
      });
      const prepared = await prepareDeploymentPlan(plan!, { random: () => 0 });
      return {
        ...prepared.plan!,
        nodes: new Map(prepared.plan!.nodes.map((n) => [n.id, n])),
        node_instances: canonical(prepared.plan!.node_instances),
      };
    };
    const expected = await planOf(sections);
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray(sections, { minLength: sections.length }), async (order) =>
        expect(await planOf(order)).toEqual(expected),
      ),
      { numRuns: Math.ceil(60 * EFFORT) },
    );
  });
});
