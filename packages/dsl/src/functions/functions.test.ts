import type { Json } from '@baton/kernel';
import {
  evaluateFunctions,
  evaluateOutputs,
  type FunctionStorage,
  type GroupDeployment,
  groupCapability,
  parseBlueprint,
  prepareDeploymentPlan,
  type StoredInstance,
} from '../index';

const storage = (over: Partial<FunctionStorage> = {}): FunctionStorage => ({
  getInput: () => undefined,
  getNode: () => null,
  getNodeInstance: () => null,
  getNodeInstances: () => [],
  getSecret: () => null,
  getCapability: () => null,
  getGroupCapability: () => null,
  getLabel: () => null,
  getSys: () => null,
  getConsumers: () => [],
  ...over,
});

async function evaluatedOf(
  value: Json,
  over: Partial<FunctionStorage> = {},
  self?: string,
): Promise<unknown> {
  const evaluated = await evaluateFunctions(value, storage(over), { context: self ? { self } : {} });
  return evaluated.ok ? evaluated.value : evaluated.error.className;
}

describe('functions of values', () => {
  it.each<[Json, unknown]>([
    [{ concat: [1, true, null, 1.5, [1, 'x'], { a: 'b' }, 'z'] }, "1TrueNone1.5[1, 'x']{'a': 'b'}z"],
    [{ merge: [{ a: 1, b: 1 }, { b: 2 }] }, { a: 1, b: 2 }],
    [{ string_find: ['abc', 'z'] }, -1],
    [{ string_replace: ['aaa', 'a', 'b', 2] }, 'bba'],
    [{ string_split: ['a,b,c', ',', -1] }, 'c'],
    [{ string_split: ['a,b', ',', 5] }, 'IndexError'],
    [{ string_upper: { concat: ['a', 'b'] } }, 'AB'],
    [{ string_find: ['a', 1] }, 'FunctionEvaluationError'],
    [{ string_find: ['a'] }, 'FunctionValidationError'],
    [{ string_split: ['a,b', '', 1] }, 'ValueError'],
    [{ string_split: ['a b', ' ', true] }, 'b'],
    [{ string_replace: ['aa', 'a', 'b', null] }, 'bb'],
    [{ merge: [{ a: 1 }, 'x'] }, 'ValueError'],
    [{ get_attributes_dict: ['n', 'a', ['b', 'c'], 'b.c'] }, 'FunctionEvaluationError'],
    [{ concat: 'x' }, 'ValueError'],
    [{ get_sys: ['tenant', 'owner'] }, 'UnknownSysPropertyError'],
    [{ get_input: 'nope' }, 'UnknownInputError'],
    [{ get_attributes_list: ['nope', 'a'] }, 'KeyError'],
    [{ get_attributes_dict: ['nope', 'a'] }, 'KeyError'],
    [
      { get_input: 'a', foo: 1 },
      { get_input: 'a', foo: 1 },
    ],
  ])('%j', async (call, expected) => {
    expect(await evaluatedOf(call)).toEqual(expected);
  });
});

describe('functions of the deployment', () => {
  const instances: StoredInstance[] = [
    {
      id: 'n_1',
      node_id: 'n',
      runtime_properties: {
        a: { b: [10, 20] },
        node_instance_id: null,
        f: { get_attribute: ['SELF', 'own'] },
        own: 'n1',
      },
      index: 1,
    },
    {
      id: 'm_1',
      node_id: 'm',
      runtime_properties: { own: 'm1' },
      relationships: [{ target_name: 'n', target_id: 'n_1' }],
    },
    { id: 'n_2', node_id: 'n', runtime_properties: {} },
  ];
  const over: Partial<FunctionStorage> = {
    getNode: (id) => ({ id, properties: { a: 'property', only: { get_property: ['SELF', 'a'] } } }),
    getNodeInstance: (id) => instances.find((i) => i.id === id) ?? null,
    getNodeInstances: (node) => instances.filter((i) => i.node_id === node),
  };

  it('get_attribute: runtime property, then special names, then the property, then null', async () => {
    expect(
      await evaluatedOf(
        [
          { get_attribute: ['SELF', 'a', 'b', 1] },
          { get_attribute: ['SELF', 'node_instance_id'] },
          { get_attribute: ['SELF', 'node_instance_index'] },
          { get_attribute: ['SELF', 'only'] },
          { get_attribute: ['SELF', 'none', 'x'] },
        ],
        over,
        'n_1',
      ),
    ).toEqual([20, 'n_1', 1, 'property', null]);
  });

  it('SELF inside what another instance holds means that instance', async () => {
    expect(await evaluatedOf({ get_attribute: ['n', 'f'] }, over, 'm_1')).toBe('n1');
  });

  it('tells when several instances could be meant', async () => {
    expect(await evaluatedOf({ get_attribute: ['n', 'a'] }, over)).toBe('FunctionEvaluationError');
    const outputs = await evaluateOutputs(
      {
        a: { value: [{ get_attribute: ['n', 'a'] }] },
        s: { value: { get_secret: 'gone' } },
        t: { value: 1 },
      },
      storage(over),
    );
    expect(outputs).toEqual({
      ok: true,
      value: {
        a: [
          '<ERROR: Unable to evaluate get_attribute function: More than one node instance found for node "n". Cannot resolve a node instance unambiguously.>',
        ],
        t: 1,
      },
    });
    const failing = await evaluateOutputs(
      { a: { value: { get_secret: ['known', 'k'] } } },
      storage({ getSecret: () => 'text' }),
    );
    expect(failing.ok ? null : failing.error.className).toBe('FunctionEvaluationError');
  });

  it('get_attribute asks lists for whole numbers only', async () => {
    const call = (step: Json): Json => ({ get_attribute: ['SELF', 'a', 'b', step] });
    expect(await evaluatedOf([call(true), call(7)], over, 'n_1')).toEqual([20, null]);
    expect(await evaluatedOf(call('0'), over, 'n_1')).toBe('FunctionEvaluationError');
  });

  it('get_group_capability lists by deployment, leaving out those without any', () => {
    const deployments: GroupDeployment[] = [
      { id: 'b', capabilities: { x: 2, y: { k: 3 } } },
      { id: 'a', capabilities: { x: 1 } },
      { id: 'c', capabilities: {} },
    ];
    expect(groupCapability(deployments, 'x', [])).toEqual([1, 2]);
    expect(groupCapability(deployments, ['x', 'y'], [])).toEqual([
      [1, null],
      [2, { k: 3 }],
    ]);
    expect(groupCapability(deployments, 'deployment_id:y', ['k'])).toEqual({ b: 3 });
  });
});

describe('preparation', () => {
  const V = 'tosca_definitions_version: cloudify_dsl_1_5\n';
  async function prepare(
    text: string,
    inputs: { [key: string]: Json } = {},
    options: { runtimeOnlyEvaluation?: boolean; autoCorrectTypes?: boolean } = {},
  ) {
    const { plan, diagnostics } = await parseBlueprint({ text: V + text });
    if (!plan) throw new Error(JSON.stringify(diagnostics));
    return prepareDeploymentPlan(plan, {
      inputs,
      random: Math.random,
      findMissingSecrets: (names) => names.filter((n) => n !== 'known'),
      ...options,
    });
  }
  const first = (outcome: Awaited<ReturnType<typeof prepare>>): string =>
    `${outcome.diagnostics[0]?.className} ${outcome.diagnostics[0]?.code ?? ''}`.trim();

  it('fills inputs from data types, reports all missing ones together, before unknown ones', async () => {
    const types =
      'data_types: {d: {properties: {a: {default: 1}}}, e: {properties: {a: {}}}}\ninputs: {x: {type: d}, y: {required: false}, z: {type: e}, q: {type: dict}}\n';
    const missing = await prepare(types, { other: 1 });
    expect(missing.diagnostics.map((d) => [d.kind, d.value])).toEqual([
      ['missing_inputs', ['z', 'q']],
      ['unknown_input', 'other'],
    ]);
    const { plan } = await prepare(types, { z: { a: 2 }, q: {} });
    expect(plan!.inputs).toEqual({ x: { a: 1 }, y: null, z: { a: 2 }, q: {} });
  });

  it('casts strings only when asked to', async () => {
    const inputs = 'inputs: {i: {type: integer}, b: {type: boolean}}\n';
    expect(first(await prepare(inputs, { i: '12', b: 'true' }))).toBe('DSLParsingException 214');
    expect((await prepare(inputs, { i: '12', b: 'true' }, { autoCorrectTypes: true })).plan!.inputs).toEqual({
      i: 12,
      b: true,
    });
    expect(first(await prepare(inputs, { i: '1.5', b: 'True' }, { autoCorrectTypes: true }))).toBe(
      'DSLParsingException 214',
    );
  });

  it('leaves what waits for run time, flags its operation, and knows missing secrets', async () => {
    const text = (secret: string) => `plugins: {p: {executor: central_deployment_agent, install: false}}
inputs: {i: {default: 5}}
node_types: {t: {properties: {a: {}}, interfaces: {f: {o: p.o, r: p.r}}}}
node_templates: {n: {type: t, properties: {a: {concat: [x, {get_input: i}, {get_secret: ${secret}}]}}, interfaces: {f: {o: {inputs: {v: {get_input: i}}}, r: {inputs: {v: {get_attribute: [SELF, a]}}}}}}}
`;
    const { plan } = await prepare(text('known'));
    expect(plan!.nodes[0]!.properties.a).toEqual({ concat: ['x', 5, { get_secret: 'known' }] });
    expect([plan!.nodes[0]!.operations.o, plan!.nodes[0]!.operations.r]).toMatchObject([
      { inputs: { v: 5 }, has_intrinsic_functions: false },
      { has_intrinsic_functions: true },
    ]);
    expect(first(await prepare(text('a')))).toBe('UnknownSecretError');
  });

  it('refuses hybrid functions over runtime ones, unless everything waits', async () => {
    const text =
      'inputs: {i: {default: {a: 1}}}\noutputs: {o: {value: {get_input: [i, {get_secret: known}]}}}\n';
    expect(first(await prepare(text))).toBe('FunctionEvaluationError');
    expect((await prepare(text, {}, { runtimeOnlyEvaluation: true })).plan!.outputs).toEqual({
      o: { value: { get_input: ['i', { get_secret: 'known' }] } },
    });
  });

  it('follows get_property into other nodes with their own SELF', async () => {
    const { plan } = await prepare(
      'node_types: {t: {properties: {a: {}, b: {}}}}\nnode_templates: {x: {type: t, properties: {a: {get_property: [y, a]}, b: {get_property: [y, b]}}}, y: {type: t, properties: {a: {get_property: [SELF, b]}, b: {get_attribute: [SELF, z]}}}}\n',
    );
    expect(plan!.nodes[0]!.properties).toEqual({
      a: { get_attribute: ['y', 'z'] },
      b: { get_attribute: ['y', 'z'] },
    });
  });

  it('does not take inputs for a function because one has the name of one', async () => {
    const { plan } = await prepare(
      'plugins: {p: {executor: central_deployment_agent, install: false}}\nnode_types: {t: {}}\nnode_templates: {n: {type: t, interfaces: {f: {o: {implementation: p.o, inputs: {merge: [{a: 1}]}}}}}}\n',
    );
    expect(plan!.nodes[0]!.operations.o).toMatchObject({
      inputs: { merge: [{ a: 1 }] },
      has_intrinsic_functions: false,
    });
  });

  it('get_property lacks what the input on its way lacks', async () => {
    const text = (key: string) =>
      `inputs: {i: {default: {k: [7]}}}\nnode_types: {t: {properties: {a: {}, b: {}}}}\nnode_templates: {n: {type: t, properties: {a: {get_input: i}, b: {get_property: [SELF, a, ${key}]}}}}\n`;
    expect((await prepare(text('k, 0'))).plan!.nodes[0]!.properties.b).toBe(7);
    expect(first(await prepare(text('gone')))).toBe('FunctionEvaluationError');
  });

  it('lists uses of other deployments for each instance', async () => {
    const { plan } = await prepare(
      'node_types: {t: {properties: {a: {}}}}\nnode_templates: {x: {type: t, properties: {a: [{get_capability: [{get_secret: known}, c]}]}, capabilities: {scalable: {properties: {default_instances: 3}}}}}\noutputs: {o: {value: {get_capability: [dep, c]}}}\n',
    );
    expect(
      plan!.inter_deployment_functions.map((f) => [
        f.function_identifier,
        f.target_deployment,
        Object.keys(f.context),
      ]),
    ).toEqual([
      ...Array.from({ length: 3 }, () => [
        'nodes.x.properties.a[0].get_capability',
        [null, { get_secret: 'known' }],
        ['self'],
      ]),
      ['outputs.o.value.get_capability', ['dep', 'dep'], []],
    ]);
  });
});
