import { blueprintDrift, deploymentDrift, differingKeys, driftResult, updatePlan } from './drift';

const labels = [
  { key: 'a', value: 'b' },
  { key: 'csys-obj-parent', value: 'p' },
];

describe('drift', () => {
  it('names the keys that differ, deeply, missing ones too', () => {
    expect(differingKeys({ a: { b: 1 }, c: 1, d: 1 }, { a: { b: 1 }, c: 2, e: 1 })).toEqual(['c', 'd', 'e']);
    expect(differingKeys({ a: 1 }, undefined)).toEqual(['a']);
  });
  it.each([
    ['nothing asked', {}, []],
    ['all as asked', { id: 'd', labels: [{ a: 'b' }], inputs: { x: 1 } }, []],
    ['another id', { id: 'e' }, ['id']],
    ['more labels than asked', { labels: [{ a: 'b' }] }, []],
    ['another label', { labels: [{ a: 'c' }] }, ['labels']],
    ['other inputs', { inputs: { x: 2 } }, ['inputs']],
    ['an input that is missing', { inputs: { x: 1, z: 3 } }, ['inputs']],
  ])('of a deployment: %s', (_what, spec, drift) => {
    // y has the default of its blueprint.
    expect(deploymentDrift(spec, { id: 'd', labels, inputs: { x: 1, y: 2 } })).toEqual(drift);
  });
  it('does not mind a counted id', () => {
    expect(
      deploymentDrift({ id: 'my-d', auto_inc_suffix: true }, { id: 'my-d-3', labels, inputs: {} }),
    ).toEqual([]);
    expect(
      deploymentDrift({ id: 'other', auto_inc_suffix: true }, { id: 'my-d-3', labels, inputs: {} }),
    ).toEqual(['id']);
  });
  it('of a blueprint: id and labels', () => {
    expect(blueprintDrift({ id: 'b', labels: [{ a: 'b' }] }, { id: 'b', labels })).toEqual([]);
    expect(blueprintDrift({ id: 'c', labels: [{ z: 'b' }] }, { id: 'b', labels })).toEqual(['id', 'labels']);
  });
  it('is null where there is none', () => {
    const none = { hasClient: false, capabilities: [], deployment: [], blueprint: [] };
    expect(driftResult(none)).toBeNull();
    expect(driftResult({ ...none, hasClient: true, deployment: ['inputs'] })).toEqual({
      client: true,
      deployment: ['inputs'],
    });
  });
});

describe('what an update does about it', () => {
  it('refuses another manager and another id', () => {
    expect(updatePlan({ client: true }, 'd').refusal).toBe(
      'Update not available for "d" because of client drift',
    );
    expect(updatePlan({ deployment: ['id'] }, 'd').refusal).toContain('deployment_id change');
  });
  it('changes what has drifted', () => {
    expect(updatePlan({ deployment: ['inputs', 'labels'], blueprint: ['id'] }, 'd')).toEqual({
      refusal: null,
      hasBlueprint: true,
      hasInputs: true,
      hasLabels: true,
    });
    // A mark that something has changed does not name the changed part.
    expect(updatePlan(true, 'd')).toEqual({
      refusal: null,
      hasBlueprint: false,
      hasInputs: false,
      hasLabels: false,
    });
  });
});
