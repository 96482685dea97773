import { formatDiagnostic } from './index';
import { codesOf, planOf, run, V } from './testing/parsing';

describe('diagnostics', () => {
  it('tells every fault at once, with place, path, value, what was expected and the nearest name', async () => {
    const { plan, diagnostics } = await run(`${V(5)}inputs:
  port: {type: intger}
node_types:
  web: {properties: {port: {type: integer}}}
node_templates:
  a: {type: wbe}
  b: {type: web, properties: {port: many}, extra: 1}
outputs:
  o: {value: {get_input: prot}}
`);
    expect(plan).toBeNull();
    expect(diagnostics.map((d) => [d.kind, d.code, d.line, d.column, d.nearest ?? null])).toEqual([
      ['unknown_node_type', 7, 7, 13, 'web'],
      ['unknown_key', 1, 8, 44, null],
      ['unknown_type', 103, 3, 16, 'integer'],
      ['type_mismatch', 105, 8, 37, null],
      ['unknown_input', null, 10, 14, 'port'],
      ['unused_input', null, 3, 3, null],
    ]);
    expect(formatDiagnostic(diagnostics[3]!)).toBe(
      '/bp/blueprint.yaml:8:37: error: property "port" of node template "b" is of the type integer, the value is "many" (at node_templates.b.properties.port; found "many"; expected integer) [type_mismatch, 105]',
    );
  });

  it('checks what stands below an unknown name, and does not blame what may follow from it', async () => {
    const { diagnostics } = await run(`${V(4)}node_types:
  child: {derived_from: gone}
relationships:
  r: {}
node_templates:
  a:
    type: wbe
    properties: {x: {get_input: p}}
    relationships: [{type: rr, target: b, source_interfaces: {i: {op: {implementation: no.such, inputs: {y: {get_input: q}}}}}}]
  b:
    type: child
    properties: {from_gone: {get_property: [a, from_wbe]}}
    interfaces: {i: {op: {implementation: no.such, inputs: {z: {get_input: s}}}}}
    relationships: [{type: r, target: a}]
outputs:
  o: {value: {get_attribute: [a, any]}}
`);
    expect(diagnostics.map((d) => [d.kind, d.line])).toEqual([
      ['cycle', 7],
      ['unknown_parent', 3],
      ['unknown_node_type', 8],
      ['unknown_relationship_type', 10],
      ['unresolved_relationship_operation', 10],
      ['unresolved_node_operation', 14],
      ['unknown_input', 9],
      ['unknown_input', 10],
      ['unknown_input', 14],
    ]);
  });

  it.each<[string, string, number]>([
    ['parts before the section', 'data_types: {string: {}, d: {derived_from: e}}\n', 103],
    [
      'what is referred to before what refers to it, the later one first otherwise',
      'node_types: {a: {derived_from: b, x: 1}, b: {derived_from: 1}, c: {derived_from: gone}}\n',
      103,
    ],
    [
      'relationship types with the first template that uses one',
      'relationships: {r: {source_interfaces: {i: {o: p.x}}}}\nnode_types: {t: {}}\nnode_templates: {a: {type: t, interfaces: {i: {o: p.x}}}, b: {type: t, relationships: [{type: r, target: a}]}}\nworkflows: {w: p.x}\n',
      10,
    ],
    [
      'a version, keys and the imports before all else',
      'dsl_definitions: {}\n5: x\nimports: [gone.yaml]\n',
      102,
    ],
    ['null items where names are wanted', 'groups: {g: {members: [null]}}\n', 40],
    ['keys that are missing in their place', 'plugins: {p: {source: 1, install: 5}}\n', 1],
  ])('tells first what the original meets first: %s', async (_what, text, first) => {
    expect((await codesOf(V(0) + text))[0]).toBe(first);
  });

  it('names the imported file in which a fault lies', async () => {
    const { diagnostics } = await run(`${V(4)}imports: [a.yaml]\n`, {
      files: { '/bp/a.yaml': 'node_types:\n  t: {derived_from: u}\n' },
    });
    expect(diagnostics[0]).toMatchObject({
      kind: 'unknown_parent',
      file: 'file:/bp/a.yaml',
      line: 2,
      column: 21,
    });
  });

  it('does not blame what a missing import would have brought', async () => {
    const { diagnostics } = await run(
      `${V(5)}imports: [gone.yaml]\nnode_templates: {a: {type: from_there}, b: {typ: x}}\n`,
    );
    expect(diagnostics.map((d) => [d.kind, d.nearest ?? null])).toEqual([
      ['import_failed', null],
      ['missing_key', null],
      ['unknown_key', 'type'],
    ]);
  });

  it('warns of what is legal but surprising', async () => {
    const { plan, diagnostics } = await run(`${V(5)}imports: [cloudify/types/types.yaml]
plugins: {script: {executor: central_deployment_agent, install: false}}
node_templates:
  a: {type: cloudify.nodes.Root}
  b:
    type: cloudify.nodes.Root
    relationships:
      - {type: cloudify.relationships.depends_on, target: a}
      - {type: cloudify.relationships.connected_to, target: a}
`);
    expect(diagnostics.map((d) => [d.severity, d.kind])).toEqual([
      ['warning', 'built_in_overwritten'],
      ['warning', 'double_relationship'],
    ]);
    expect(plan).not.toBeNull();
  });
});

describe('types and operations', () => {
  it('replaces an inherited operation whole, and lets {} cancel one', async () => {
    const plan = await planOf(`${V(5)}plugins: {p: {executor: central_deployment_agent, install: false}}
node_types:
  a: {interfaces: {i: {x: p.x, y: p.y, z: {implementation: p.z, inputs: {n: {type: dict, default: {k: 1}}}}}}}
  b: {derived_from: a, interfaces: {i: {x: {inputs: {q: {default: 1}}}}}}
node_templates:
  n: {type: b, interfaces: {i: {y: {}, z: {inputs: {more: 2}}}}}
`);
    const { operations } = plan.nodes[0]!;
    expect(operations.x).toMatchObject({ plugin: '', operation: '', inputs: {} });
    expect(operations['i.y']).toMatchObject({ plugin: '' });
    expect(operations.z).toMatchObject({
      operation: 'z',
      inputs: { n: { k: 1, type: 'dict' }, more: 2 },
      inputs_types: { n: 'dict' },
    });
  });

  it('fills in defaults of data types, nearest first', async () => {
    const plan = await planOf(`${V(5)}data_types:
  inner: {properties: {a: {default: 1}, b: {default: 1}, c: {default: 1}}}
  outer: {properties: {i: {type: inner, default: {b: 2}}}}
node_types: {t: {properties: {o: {type: outer, default: {i: {c: 3}}}}}, u: {derived_from: t, properties: {o: {type: outer}}}}
node_templates: {n: {type: u, properties: {o: {i: {a: 4}}}}, m: {type: u}}
`);
    expect(plan.nodes.map((n) => n.properties.o)).toEqual([
      { i: { a: 4, b: 2, c: 3 } },
      { i: { a: 1, b: 2, c: 3 } },
    ]);
  });

  it.each([
    ['circles of types', 'node_types: {a: {derived_from: b}, b: {derived_from: a}}', [100]],
    [
      'circles of data types',
      'data_types: {a: {properties: {x: {type: b}}}, b: {properties: {x: {type: a}}}}',
      [100],
    ],
    [
      'ambiguous plugins',
      'plugins: {o: {executor: host_agent, install: false}, o.t: {executor: host_agent, install: false}}\nworkflows: {w: o.t.x}',
      [91],
    ],
    [
      'a plugin without a dot',
      'plugins: {p: {executor: host_agent, install: false}}\nworkflows: {w: p}',
      [21],
    ],
    ['executors', 'plugins: {p: {executor: auto, install: false}}', [18]],
    ['retries', 'node_types: {t: {interfaces: {i: {o: {max_retries: -2}}}}}', ['ValueError']],
    ['null schemas', 'node_types: {t: {properties: {a: }}}', ['DSLParsingElementMatchException']],
    ['hidden inputs', 'inputs: {a: {hidden: true}}', [215]],
    [
      'several keys of a constraint',
      'workflows: {}\ninputs: {a: {constraints: [{length: 1, error_message: x, pattern: y}]}}',
      [103],
    ],
    ['upload_resources', 'upload_resources: {}', [1]],
    ['keys that are numbers', 'node_types: {1: {}}', [1]],
    [
      'labels',
      'labels: {a: {values: [1]}, b: {values: [{get_attribute: [a, b]}]}}\nblueprint_labels: {c: {values: [{get_input: a}]}}',
      [1, 1, 1, 'KeyError'],
    ],
  ])('refuses %s', async (_name, text, codes) => {
    expect(await codesOf(`${V(5)}${text}\n`)).toEqual(codes);
  });

  it('takes defaults of inputs and parameters only where they are written, and then complete', async () => {
    const types = `plugins: {p: {executor: central_deployment_agent, install: false}}
data_types: {login: {properties: {user: {default: root}, key: {}}}}
`;
    const workflow = (parameters: string) =>
      `${V(4)}${types}workflows: {w: {mapping: p.f, parameters: ${parameters}}}`;
    const plan = await planOf(workflow('{a: {type: login}, b: {type: login, default: {key: k}}}'));
    expect(plan.workflows.w!.parameters).toEqual({
      a: { type: 'login' },
      b: { type: 'login', default: { user: 'root', key: 'k' } },
    });
    expect(await codesOf(workflow('{a: {type: login, default: {}}}'))).toEqual([107]);
    const node = (inputs: string, interfaces = '{}') => `${V(4)}${types}
node_types: {t: {interfaces: {i: {op: {implementation: p.f, inputs: ${inputs}}}}}}
node_templates: {n: {type: t, interfaces: ${interfaces}}}
`;
    expect(await codesOf(node('{a: {type: login}}'))).toEqual([107]);
    expect(await codesOf(node('{a: {type: login, default: {user: u}}}'))).toEqual([107]);
    const { nodes } = await planOf(node('{a: {type: login, default: {key: k}}}'));
    expect(nodes[0]!.operations['i.op']).toMatchObject({ inputs: { a: { user: 'root', key: 'k' } } });
  });

  it('lets what exists already lack required properties beside use_external_resource, not below it', async () => {
    const text = (properties: string) => `${V(4)}data_types:
  config: {properties: {cidr: {}, name: {default: n}}}
  disk: {properties: {use_external_resource: {default: false}, size: {}}}
node_types: {t: {properties: {use_external_resource: {default: false}, id: {}, config: {type: config}, disk: {type: disk, required: false}}}}
node_templates: {n: {type: t, properties: ${properties}}}
`;
    const codes = (properties: string) => codesOf(text(properties));
    const disk = 'disk: {size: 1}';
    expect(await codes(`{use_external_resource: true, ${disk}}`)).toEqual([107]);
    expect(await codes(`{use_external_resource: true, config: {cidr: c}, ${disk}}`)).toEqual([]);
    expect(await codes('{id: 1, config: {cidr: c}, disk: {}}')).toEqual([107]);
    expect(await codes('{id: 1, config: {cidr: c}, disk: {use_external_resource: true}}')).toEqual([]);
    expect(
      await codes(`{id: 1, config: {cidr: c}, disk: {use_external_resource: {get_sys: [tenant, name]}}}`),
    ).toEqual([219]);
  });

  it('lists required secrets node by node: properties, then operations', async () => {
    const { requirements } =
      await planOf(`${V(4)}plugins: {p: {executor: central_deployment_agent, install: false}}
node_types: {t: {properties: {x: {}}, interfaces: {i: {op: {implementation: p.f, inputs: {y: {default: {get_secret: op}}}}}}}}
node_templates: {a: {type: t, properties: {x: {get_secret: a}}}, b: {type: t, properties: {x: {get_secret: b}}}}
`);
    expect(requirements.secrets).toEqual(['a', 'op', 'op', 'b', 'op', 'op']);
  });

  it('lets a container in a group around answer for what it contains in the group', async () => {
    const text = (outer: string) => `${V(5)}node_types: {t: {}}
relationships: {cloudify.relationships.contained_in: {}}
node_templates:
  a: {type: t}
  b: {type: t, relationships: [{type: cloudify.relationships.contained_in, target: a}]}
  c: {type: t}
groups: {g: {members: [b, c]}, h: {members: [${outer}]}}
policies: {p: {type: cloudify.policies.scaling, targets: [g, h]}}
`;
    expect(await codesOf(text('g, a'))).toEqual([]);
    expect(await codesOf(text('a'))).toEqual([202]);
    const two = text('g, a').replace(
      '  c: {type: t}',
      '  d: {type: t}\n  c: {type: t, relationships: [{type: cloudify.relationships.contained_in, target: d}]}',
    );
    expect(await codesOf(two.replace('g, a', 'g, a, d'))).toEqual([202, 202]);
  });

  it('accepts what newer versions brought when versions are not checked', async () => {
    const text = `${V(0)}description: x\ndata_types: {}\nnode_types: {t: {properties: {a: {required: false}}, interfaces: {i: {o: {max_retries: 1}}}}}\n`;
    expect(await codesOf(text)).toEqual([102, 102, 102, 102]);
    expect(await codesOf(text, { options: { validateVersion: false } })).toEqual([]);
  });

  it('turns schedule times into UTC and keeps relative ones', async () => {
    const plan = await planOf(
      `${V(5)}deployment_settings:
  default_schedules:
    a: {workflow: install, since: '2026-07-01 12:00', timezone: Europe/Berlin, until: +1d, weekdays: [mo, 1tu, L-FR]}
    b: {workflow: install, since: '7:40'}
`,
      { options: { nowMs: Date.UTC(2026, 0, 5, 9) } },
    );
    expect(plan.deployment_settings.default_schedules).toEqual({
      a: { workflow: 'install', since: '2026-07-01 10:00:00', until: '+1d', weekdays: ['mo', '1tu', 'L-FR'] },
      b: { workflow: 'install', since: '2026-01-05 07:40:00' },
    });
  });
});

describe('built-in types', () => {
  it.each([3, 4, 5])('version 1_%i parses without a fault and has its workflows', async (minor) => {
    const plan = await planOf(
      `${V(minor)}imports: [cloudify/types/types.yaml]\nnode_templates: {h: {type: cloudify.nodes.Compute}}\n`,
    );
    expect(plan.nodes[0]!.host_id).toBe('h');
    expect(plan.workflows.heal!.operation).toBe(
      'cloudify.plugins.workflows.auto_heal_reinstall_node_subgraph',
    );
    expect(plan.workflows.install!.availability_rules).toEqual(
      minor === 3 ? null : { node_instances_active: ['none', 'partial'] },
    );
    expect(Object.hasOwn(plan.workflows.uninstall!.parameters, 'recursive')).toBe(minor === 5);
    expect(plan.nodes[0]!.operations).not.toHaveProperty('create');
    expect(plan.nodes[0]!.operations['cloudify.interfaces.cloudify_agent.create']).toMatchObject({
      plugin: 'agent',
      executor: 'central_deployment_agent',
    });
  });

  it('is too new for 1_2, unless it comes from a public address, which serves every version', async () => {
    expect(await codesOf(`${V(2)}imports: [cloudify/types/types.yaml]\n`)).toContain(28);
    for (const minor of [0, 1, 2, 3, 4, 5]) {
      for (const release of ['3.2', '4.5.5', '6.4.0', '7.1.0.dev1'])
        expect(
          await codesOf(`${V(minor)}imports: ['https://cloudify.co/spec/cloudify/${release}/types.yaml']\n`),
        ).toEqual([]);
    }
    // the blueprint's own text is still checked against its own version
    expect(
      await codesOf(
        `${V(1)}imports: ['http://www.getcloudify.org/spec/cloudify/3.2/types.yaml']\ndescription: x\n`,
      ),
    ).toEqual([102]);
  });

  it('has at a public address what its release had', async () => {
    const typesOf = async (release: string) =>
      run(
        `${V(4)}imports: ['https://cloudify.co/spec/cloudify/${release}/types.yaml']
node_templates: {a: {type: cloudify.nodes.PasswordSecret}}
`,
      );
    expect((await typesOf('6.3.1')).diagnostics[0]).toMatchObject({ kind: 'unknown_node_type' });
    expect((await typesOf('6.4.0')).plan!.workflows.heal!.parameters).toHaveProperty('allow_reinstall');
    expect((await typesOf('7.0.4')).plan!.workflows.uninstall!.parameters).toHaveProperty('recursive');
  });
});

test.each([
  ['node_templates: {a: {type: t, instances: {deploy: {x: 1}}}}', 'must be an integer, not a dict'],
  ['node_templates: 3', 'must be a dict, not an integer'],
  ['inputs: {a: {constraints: [{in_range: 1}]}}', 'must be a list of two numbers'],
])('errors are sentences: %s', async (text, words) => {
  const { diagnostics } = await run(V(4) + text);
  expect(diagnostics.map(formatDiagnostic).join('\n')).toContain(words);
});
