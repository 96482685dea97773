import { parseBlueprint, updateSteps } from '../index';

const HEAD = `tosca_definitions_version: cloudify_dsl_1_5
plugins: {p: {executor: central_deployment_agent, install: false}, q: {executor: central_deployment_agent, install: false}}
relationships: {cloudify.relationships.depends_on: {}, cloudify.relationships.contained_in: {derived_from: cloudify.relationships.depends_on}}
node_types: {t: {properties: {k: {default: 1}}, interfaces: {i: {o: {implementation: p.o, inputs: {x: {default: 1}}}}}}, u: {derived_from: t}}
`;

async function stepsOf(before: string, after: string): Promise<string[]> {
  const [a, b] = await Promise.all(
    [before, after].map(async (text) => (await parseBlueprint({ text: HEAD + text })).plan!),
  );
  return updateSteps(a!, b!).steps.map(
    (s) => `${s.isSupported ? '' : '!'}${s.action} ${s.entity_type} ${s.entity_id.join(':')}`,
  );
}
const nodes = (text: string): string => `node_templates: {a: {type: t}, b: {type: t}, ${text}}\n`;
const on = (...targets: string[]): string =>
  `relationships: [${targets.map((t) => `{type: cloudify.relationships.depends_on, target: ${t}}`).join(', ')}]`;

describe('update steps', () => {
  it('adds a chain of nodes from its end, and removes relationships before nodes', async () => {
    expect(
      await stepsOf(
        '',
        `node_templates: {c: {type: t, ${on('b')}}, b: {type: t, ${on('a')}}, a: {type: t}}\n`,
      ),
    ).toEqual(['add node nodes:a', 'add node nodes:b', 'add node nodes:c']);
    expect(
      await stepsOf(nodes(`c: {type: t, ${on('a')}}`), 'node_templates: {a: {type: t}, c: {type: t}}\n'),
    ).toEqual(['remove relationship nodes:c:relationships:0', 'remove node nodes:b']);
  });

  it('removes operations of nodes that stay before nodes, and takes plugins before what it adds', async () => {
    const more = 'interfaces: {i: {n: p.n}}';
    expect(
      await stepsOf(nodes(`c: {type: t, ${more}}`), 'node_templates: {a: {type: t}, c: {type: t}}\n'),
    ).toEqual([
      'remove operation nodes:c:operations:n',
      'remove operation nodes:c:operations:i.n',
      'remove node nodes:b',
    ]);
    const using = (plugin: string) => `node_templates: {a: {type: t, interfaces: {i: {n: ${plugin}.n}}}`;
    const steps = await stepsOf(`${using('p')}}\n`, `${using('q')}, z: {type: t}}\n`);
    expect(steps.filter((step) => step.startsWith('add'))).toEqual([
      'add plugin plugins:a:q',
      'add node nodes:z',
    ]);
  });

  it('tells relationships by type, target and number', async () => {
    expect(
      await stepsOf(nodes(`c: {type: t, ${on('a', 'b')}}`), nodes(`c: {type: t, ${on('b', 'a')}}`)),
    ).toEqual([
      'modify relationship nodes:c:relationships:1:0',
      'modify relationship nodes:c:relationships:0:1',
    ]);
    expect(await stepsOf(nodes(`c: {type: t, ${on('a', 'a')}}`), nodes(`c: {type: t, ${on('a')}}`))).toEqual([
      'remove relationship nodes:c:relationships:1',
    ]);
  });

  it('gives a changed operation both its names, and changed types nothing but the node', async () => {
    expect(
      await stepsOf(
        nodes('c: {type: t}'),
        nodes('c: {type: t, interfaces: {i: {o: {inputs: {x: 2}}}}, properties: {k: 2}}'),
      ),
    ).toEqual([
      'modify operation nodes:c:operations:o',
      'modify operation nodes:c:operations:i.o',
      'modify property nodes:c:properties:k',
    ]);
    expect(await stepsOf(nodes('c: {type: t}'), nodes('c: {type: u, properties: {k: 2}}'))).toEqual([
      '!modify node nodes:c',
    ]);
    const inside = (host: string): string =>
      nodes(`c: {type: t, relationships: [{type: cloudify.relationships.contained_in, target: ${host}}]}`);
    expect(await stepsOf(inside('a'), inside('b'))).toEqual(['!modify node nodes:c']);
  });

  it('compares groups as sets, and tells outputs, workflows and the description', async () => {
    const rest = (members: string, more = ''): string =>
      `${nodes('c: {type: t}')}groups: {g: {members: [${members}]}}\n${more}`;
    expect(await stepsOf(rest('a, b'), rest('b, a'))).toEqual([]);
    expect(await stepsOf(rest('a, b'), rest('a'))).toEqual(['!modify group groups:g']);
    expect(
      await stepsOf(
        rest('a', 'outputs: {o: {value: 1}, q: {value: 1}}\n'),
        rest('a', 'description: x\noutputs: {o: {value: 2}, r: {value: 1}}\nworkflows: {w: p.w}\n'),
      ),
    ).toEqual([
      'remove output outputs:q',
      'add output outputs:r',
      'add workflow workflows:w',
      'modify description description',
      'modify output outputs:o',
    ]);
  });
});
