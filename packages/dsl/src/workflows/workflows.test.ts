import { checkWorkflowParameters, workflowAvailability } from '../index';

describe('workflow parameters', () => {
  const declared = {
    n: { type: 'integer', default: 1 },
    f: { type: 'float', default: null },
    b: { type: 'boolean', default: false },
    s: { type: 'string', required: false },
    l: { type: 'list', item_type: 'integer', default: [] },
    must: {},
    c: { default: 'ok', constraints: [{ pattern: 'o' }] },
  };

  it('takes defaults, converts by type, evaluates functions and lets custom ones through on demand', async () => {
    const given = { n: '5', b: 'TRUE', l: ['1', 2], must: { get_input: 'x' }, own: 1 };
    const checked = await checkWorkflowParameters('w', declared, given, {
      allowCustomParameters: true,
      evaluate: (v) => (typeof v === 'object' && v !== null && 'get_input' in v ? 'evaluated' : v),
    });
    expect(checked).toEqual({
      ok: true,
      value: { own: 1, n: 5, f: null, b: true, l: [1, 2], must: 'evaluated', c: 'ok' },
    });
  });

  it('lists everything that is wrong', async () => {
    const checked = await checkWorkflowParameters('w', declared, { n: 'x', s: 1, l: ['a'], c: 'no', nn: 1 });
    expect(checked.ok ? [] : checked.error.message.split('\n')).toEqual([
      'Workflow "w" does not have the following parameters declared: nn. Remove these parameters or use the flag for allowing custom parameters',
      'Parameter "n" must be of type integer',
      'Parameter "s" must be of type string',
      'Parameter "l" must be of type list of integer',
      'Parameter "c" does not meet its constraints: Value "no" of parameter "c" violates constraint pattern("o") operator.',
      'Workflow "w" must be provided with the following parameters to execute: must',
    ]);
    // Each fault at the place of its parameter, for forms.
    expect(checked.ok ? [] : checked.faults.map(({ path }) => path)).toEqual(
      ['nn', 'n', 's', 'l', 'must', 'c'].map((name) => `parameters.${name}`),
    );
  });

  it('asks for the objects that parameters name', async () => {
    const parameters = {
      node_id: { type: 'node_id', constraints: [{ name_pattern: { starts_with: 'a' } }] },
    };
    const asked: unknown[] = [];
    const getValues = (type: string, _value: unknown, query: object) => {
      asked.push([type, query]);
      return ['a1'];
    };
    expect(
      (await checkWorkflowParameters('w', parameters, { node_id: 'a1' }, { getValues, hasDeployment: true }))
        .ok,
    ).toBe(true);
    const refused = await checkWorkflowParameters(
      'w',
      parameters,
      { node_id: 'b1' },
      { getValues, hasDeployment: true },
    );
    expect(refused.ok ? '' : refused.error.message).toBe(
      'Parameter "node_id" does not meet its constraints: "b1" is no node_id that parameter "node_id" may name; did you mean "a1"?',
    );
    expect(asked[0]).toEqual(['node_id', { id_specs: { starts_with: 'a' } }]);
  });
});

describe('availability of workflows', () => {
  const available = (rules: object, states: string[], types: string[][] = []): boolean =>
    workflowAvailability(rules as never, types, states).isAvailable;
  it.each([
    ['all', [], true],
    ['all', ['started'], true],
    ['all', ['started', 'stopped'], false],
    ['none', [], true],
    ['none', ['stopped'], true],
    ['none', ['started'], false],
    ['partial', [], false],
    ['partial', ['started', 'stopped'], true],
    ['partial', ['stopped', 'stopped'], true],
    ['partial', ['uninitialized', 'deleted'], false],
  ])('%s of %j is %s', (which, states, expected) => {
    expect(available({ node_instances_active: [which] }, states)).toBe(expected);
  });

  it('needs one of the types, and every rule', () => {
    expect(available({ node_types_required: ['a', 'b'] }, [], [['x', 'b']])).toBe(true);
    expect(available({ node_types_required: ['a'] }, [], [['x', 'b']])).toBe(false);
    expect(available({ node_types_required: [], available: false }, [])).toBe(false);
  });
});
