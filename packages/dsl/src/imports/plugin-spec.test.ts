import {
  choosePluginYaml,
  comparePythonVersions,
  derivePluginYaml13,
  matchesSpecifiers,
  parsePluginSpec,
  parseResolverRules,
  parseVersion,
  selectPlugin,
  withRules,
} from '../index';

describe('plugin imports', () => {
  it('reads the query as an address has it', () => {
    expect(parsePluginSpec('plugin:x?version= >=1.2,<2&distribution=centos')).toEqual({
      name: 'x',
      version: '>=1.2,<2',
      distribution: 'centos',
    });
    expect(parsePluginSpec('plugin:x?version=%3E%3D1')).toMatchObject({ version: '>=1' });
    expect(typeof parsePluginSpec('plugin:x?colour=red')).toBe('string');
    expect(typeof parsePluginSpec('plugin:x?version=1,,2')).toBe('string');
  });

  it('orders versions as Python does', () => {
    const sorted = ['1.0', '1.0.dev1', '1.0a1', '1.0rc1', '1.0.post1', '1.10', '1.9', '2!0.1'].sort(
      comparePythonVersions,
    );
    expect(sorted).toEqual(['1.0.dev1', '1.0a1', '1.0rc1', '1.0', '1.0.post1', '1.9', '1.10', '2!0.1']);
  });

  it.each([
    ['1.5', '>=1.2,<2', true],
    ['2.0', '<2', false],
    ['1.4.5', '~=1.4.2', true],
    ['1.5', '~=1.4.2', false],
    ['1.4.9', '==1.4.*', true],
    ['1.0', '1.0', true],
    ['1.0.0', '1.0', false],
    ['1.0.0', '==1.0', true],
    ['1.0+x', '==1.0', true],
    ['1.5', '!=1.5.0', false],
  ])('%s within %s: %s', (version, specifiers, expected) => {
    expect(matchesSpecifiers(version, specifiers)).toBe(expected);
  });

  it('picks the highest that fits, and the file for the version', () => {
    const installed = [
      { name: 'x', version: '1.9' },
      { name: 'x', version: '1.10' },
      { name: 'x', version: '2.0' },
      { name: 'y', version: '9' },
    ];
    expect(selectPlugin({ name: 'x', version: '<2', distribution: null }, installed)?.version).toBe('1.10');
    expect(selectPlugin({ name: 'x', version: null, distribution: null }, installed, '<1.10')?.version).toBe(
      '1.9',
    );
    expect(choosePluginYaml(['plugin.yaml', 'plugin_1_3.yaml', 'plugin_1_4.yaml'], '1_4')).toBe(
      'plugin_1_4.yaml',
    );
    expect(choosePluginYaml(['plugin.yaml', 'plugin_1_3.yaml'], '1_5')).toBe('plugin.yaml');
    expect(choosePluginYaml(['plugin.yaml', 'plugin_1_3.yaml'], null)).toBe('plugin_1_3.yaml');
  });
});

describe('plugins for old blueprints', () => {
  it('lose what 1_3 does not know', () => {
    const derived = derivePluginYaml13(`
inputs: {a: {type: blueprint_id, constraints: [{filter_id: f}]}, b: {type: string, constraints: [{length: 1}]}}
node_types: {t: {properties: {l: {type: list, item_type: node_id}, k: {type: secret_key}}}}
workflows: {w: {mapping: p.w, availability_rules: {available: true}, parameters: {n: {type: node_instance}}}}
`);
    expect(JSON.parse(derived!)).toEqual({
      inputs: { a: { type: 'string' }, b: { type: 'string', constraints: [{ length: 1 }] } },
      node_types: { t: { properties: { k: { type: 'string' } } } },
      workflows: { w: { mapping: 'p.w', parameters: { n: { type: 'string' } } } },
    });
    expect(derivePluginYaml13('node_types: {t: {properties: {k: {type: string}}}}')).toBeNull();
  });
});

describe('resolver rules', () => {
  it('takes the first rule that leads somewhere and asks for no address twice', async () => {
    const asked: string[] = [];
    const read = (url: string): string | null => {
      asked.push(url);
      return url === 'http://b/x' ? 'text' : null;
    };
    const rules = parseResolverRules({
      rules: [
        { 'http://o/': 'http://a/' },
        { 'http://o/': 'http://a/' },
        { 'http://': 'http://a/' },
        { 'http://o/': 'http://b/' },
      ],
    });
    expect(rules.ok && (await withRules({ read }, rules.value).read('http://o/x'))).toEqual({
      text: 'text',
      location: 'http://b/x',
    });
    expect(asked).toEqual(['http://a/x', 'http://a/o/x', 'http://b/x']);
    expect(parseResolverRules({ rules: {} })).toMatchObject({
      ok: false,
      error: { kind: 'bad_resolver_rules' },
    });
    expect(parseResolverRules({ rules: [{ a: 'b', c: 'd' }] }).ok).toBe(false);
  });
});

describe('versions', () => {
  it.each([
    ['', 71],
    [5, 72],
    ['1_0', 73],
    ['cloudify_dsl_1', 73],
    ['cloudify_dsl_a_0', 74],
    ['cloudify_dsl_1_a', 75],
    ['cloudify_dsl_1_0_a', 76],
  ])('%j is refused with %i', (value, code) => {
    expect(parseVersion(value)).toMatchObject({ ok: false, error: { code } });
  });
  it('takes micro numbers', () => {
    expect(parseVersion('cloudify_dsl_1_0_1')).toMatchObject({ value: { definitions_version: [1, 0, 1] } });
  });
});
