import { codesOf, planOf, V } from './testing/parsing';

describe('imports and namespaces', () => {
  const unit =
    'inputs: {p: {default: 1}}\nnode_types: {t: {properties: {k: {}}}}\nnode_templates: {n: {type: t, properties: {k: {get_input: p}}}}\n';

  it('merges a diamond once, lets circles be, and prefers the file of the version', async () => {
    const files = {
      '/bp/b.yaml': 'imports: [d.yaml, blueprint.yaml]\n',
      '/bp/c.yaml': 'imports: [d.yaml]\n',
      '/bp/d.yaml': unit,
      '/x/v.yaml': 'inputs: {old: {}}\n',
      '/x/v_1_4.yaml': 'inputs: {new: {}}\n',
      '/bp/blueprint.yaml': `${V(4)}`,
    };
    const plan = await planOf(`${V(4)}imports: [b.yaml, c.yaml, /x/v.yaml]\n`, { files });
    expect(Object.keys(plan.inputs)).toEqual(['new', 'p']);
  });

  it('puts nested namespaces before names and references, not before built-in ones', async () => {
    const files = {
      '/bp/a.yaml':
        'imports: [i--b.yaml, cloudify/types/types.yaml]\nnode_templates: {m: {type: cloudify.nodes.Root, relationships: [{type: cloudify.relationships.depends_on, target: i--n}]}}\n',
      '/bp/b.yaml': `${unit}labels: {l: {values: [{get_input: p}]}}\noutputs: {o: {value: {concat: [x, {get_attribute: [n, y]}, {get_property: [n, k]}]}}}\n`,
    };
    const plan = await planOf(`${V(5)}imports: [o--a.yaml]\n`, { files });
    expect(plan.nodes.map((n) => [n.id, n.type, n.relationships[0]?.target_id ?? null])).toEqual([
      ['o--m', 'cloudify.nodes.Root', 'o--i--n'],
      ['o--i--n', 'o--i--t', null],
    ]);
    expect(plan.outputs['o--i--o']).toEqual({
      value: { concat: ['x', { get_attribute: ['o--i--n', 'y'] }, { get_property: ['o--i--n', 'k'] }] },
    });
    expect(plan.labels['o--i--l']).toEqual({ values: [{ get_input: 'o--i--p' }] });
    expect(Object.keys(plan.workflows)).toContain('install');
  });

  it('puts a template together from one part with the type and parts with relationships alone', async () => {
    const part = (body: string) => `node_templates: {n: {${body}}}\n`;
    const rel = (target: string) => `relationships: [{type: r, target: ${target}}]`;
    const rest =
      'node_types: {t: {}}\nrelationships: {r: {}}\nnode_templates: {a: {type: t}, b: {type: t}, c: {type: t}}\n';
    const files = {
      '/bp/rest.yaml': rest,
      '/bp/typed.yaml': part(`type: t, ${rel('b')}`),
      '/bp/more.yaml': part(rel('c')),
      '/bp/bare.yaml': part('type: t'),
    };
    const { nodes } = await planOf(`${V(3)}imports: [rest.yaml, typed.yaml, more.yaml]\n${part(rel('a'))}`, {
      files,
    });
    const joined = nodes.find((n) => n.id === 'n')!;
    expect(joined.relationships.map((r) => r.target_id)).toEqual(['a', 'b', 'c']);
    expect(await codesOf(`${V(3)}imports: [rest.yaml, more.yaml]\n${part('type: t')}`, { files })).toEqual([
      4,
    ]);
    expect(await codesOf(`${V(3)}imports: [rest.yaml, typed.yaml, bare.yaml]\n`, { files })).toEqual([4]);
  });

  it('refuses namespaces on the built-in types, and two blueprints in one', async () => {
    expect(await codesOf(`${V(5)}imports: [x--cloudify/types/types.yaml]\n`)).toEqual([214]);
    const blueprints = { a: V(4), b: V(4) };
    expect(await codesOf(`${V(4)}imports: [n--blueprint:a, n--blueprint:b]\n`, { blueprints })).toEqual([
      214,
    ]);
    expect(await codesOf(`${V(4)}imports: ['blueprint:a', m--blueprint:c]\n`, { blueprints })).toEqual([
      213,
      'InvalidBlueprintImport',
    ]);
    const plan = await planOf(`${V(4)}imports: [n--blueprint:a]\n`, {
      blueprints: { a: `${V(4)}imports: [m--blueprint:b]\n`, b: V(4) },
    });
    expect([plan.imported_blueprints, plan.namespaces_mapping]).toEqual([
      ['a', 'b'],
      { n: 'a', 'n--m': 'b' },
    ]);
  });

  it('finds scripts of a namespaced file without the namespace, with its own script plugin', async () => {
    const files = {
      '/bp/a.yaml':
        'plugins: {script: {executor: host_agent, install: false}}\nnode_types: {t: {}}\nnode_templates: {n: {type: t, interfaces: {i: {op: scripts/x.sh}}}}\n',
      '/bp/scripts/x.sh': '',
    };
    const plan = await planOf(`${V(4)}imports: [ns--a.yaml]\n`, { files });
    expect(plan.nodes[0]!.operations.op).toMatchObject({
      plugin: 'ns--script',
      operation: 'script_runner.tasks.run',
      executor: 'auto',
      inputs: { script_path: 'ns--scripts/x.sh' },
    });
  });

  it('sets properties of imported plugins', async () => {
    const files = {
      '/bp/p.yaml':
        'plugins: {p: {executor: central_deployment_agent, install: false, properties: {s: {type: string}, n: {type: integer}}}}\n',
    };
    const plan = await planOf(
      `${V(5)}imports: [{p.yaml: {s: 5, n: {get_secret: x}}}]\nnode_types: {t: {interfaces: {i: {o: p.f}}}}\nnode_templates: {n: {type: t}}\n`,
      { files },
    );
    expect(plan.nodes[0]!.plugins[0]!.properties).toEqual({
      s: { type: 'string', value: 5 },
      n: { type: 'integer', value: { get_secret: 'x' } },
    });
    expect(await codesOf(`${V(5)}imports: [{p.yaml: {n: x, other: 1}}]\n`, { files })).toEqual([221]);
    expect(await codesOf(`${V(4)}imports: [{p.yaml: {s: x}}]\n`, { files })).toEqual([102, 102]);
    expect(await codesOf(`${V(5)}imports: [{p.yaml: null}]\n`, { files })).toEqual([]);
    expect(await codesOf(`${V(5)}imports: [null, {a: x, p.yaml: {n: 1}}, {}]\n`, { files })).toEqual([
      220, 1, 220,
    ]);
  });
});
