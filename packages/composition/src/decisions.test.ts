import { candidateIds } from './component/create';
import { parentParameters } from './component/execute-start';
import { complaintOf } from './deployments';
import { labelsOf, labelValues, withLabel } from './labels';
import { leftMs, lookAfter, type Marker, nextOf, startKey } from './marker';
import { levelOf, lineOf } from './redirect-events';
import { publicPart, remoteBaseUrl, remoteClientConfig } from './remote-client';
import { componentConfigOf, deploymentIdOf, secondsInput, settingOf } from './settings';

const marker: Marker = {
  id: 'x',
  workflow_id: 'install',
  parent: 'p',
  task: 't',
  since: 0,
  state: 'waiting',
};
const run = { workflowId: 'install', parent: 'p', task: 't' };

describe('what a run does about what is remembered', () => {
  it.each([
    ['nothing', null, 'start'],
    ['a wait', marker, 'follow'],
    ['a failure that was told', { ...marker, state: 'told' }, 'follow'],
    ['a failure that another task was told', { ...marker, state: 'told', task: 'earlier' }, 'follow'],
    ['its own good end', { ...marker, state: 'done' }, 'over'],
    ['the good end of another task', { ...marker, state: 'done', task: 'earlier' }, 'start'],
    ['another workflow', { ...marker, workflow_id: 'uninstall' }, 'start'],
    ['another parent', { ...marker, parent: 'q' }, 'start'],
  ] as const)('%s: %s', (_what, known, next) => expect(nextOf(known as Marker | null, run)).toBe(next));

  it('starts under the same key until the start is remembered', () => {
    const at = { workflowId: 'install', task: 't', slot: 's' };
    expect(startKey(at, null)).toBe(startKey(at, null));
    expect(startKey(at, null)).not.toBe(startKey(at, marker));
    expect(startKey(at, marker)).not.toBe(startKey({ ...at, workflowId: 'uninstall' }, marker));
    // A lifecycle that is retried in one execution has new tasks.
    expect(startKey(at, null)).not.toBe(startKey({ ...at, task: 'u' }, null));
  });
});

describe('waiting', () => {
  it('looks soon, then less often, never later than the most', () => {
    expect([0, 30_000, 900_000].map((ms) => lookAfter(ms, 1, 10))).toEqual([1, 3, 10]);
    expect(lookAfter(0, 5, 10)).toBe(5);
  });
  it('has a limit unless it is -1', () => {
    expect(leftMs(1_000, 3_000, 10)).toBe(8_000);
    expect(leftMs(1_000, 3_000, -1)).toBeNull();
  });
});

describe('settings', () => {
  const scope = (inputs: object, stored: object, properties: object) =>
    ({ inputs, instance: { id: 'n_1', runtimeProperties: stored }, properties }) as never;
  it('come from the input, the runtime properties, the node, in this order; empty ones are passed over', () => {
    expect(settingOf(scope({ a: 1 }, { a: 2 }, { a: 3 }), 'a')).toBe(1);
    expect(settingOf(scope({ a: {} }, { a: 2 }, { a: 3 }), 'a')).toBe(2);
    expect(settingOf(scope({}, { a: '' }, { a: 3 }), 'a')).toBe(3);
    expect(settingOf(scope({}, {}, { a: 0 }), 'a')).toBe(0);
  });
  it('say where something else was expected', () => {
    const wrong = { resource_config: { deployment: { auto_inc_suffix: 'perhaps' } } };
    expect(() => componentConfigOf(scope({}, {}, wrong))).toThrow(
      'resource_config.deployment.auto_inc_suffix',
    );
    expect(() => componentConfigOf(scope({ resource_config: 'x' }, {}, {}))).toThrow(
      'resource_config must be',
    );
    expect(() => secondsInput({ timeout: 'soon' }, 'timeout', 1)).toThrow(
      'timeout must be a number of seconds',
    );
  });
  it('make the deployment id: the created one, the configured one, the node instance', () => {
    const config = { deployment: { id: 'd' } } as never;
    const at = (stored: object) => ({ id: 'n_1', runtimeProperties: stored }) as never;
    expect(deploymentIdOf(at({ deployment: { id: 'd-3' } }), config)).toBe('d-3');
    expect(deploymentIdOf(at({}), config)).toBe('d');
    expect(deploymentIdOf(at({}), { deployment: {} } as never)).toBe('n_1');
  });
});

describe('labels', () => {
  it('are a list of single entries', () => {
    expect(labelsOf([{ a: 'b' }])).toEqual([{ a: 'b' }]);
    expect(labelsOf(null)).toEqual([]);
    for (const wrong of [{ a: 'b' }, [{ a: 'b', c: 'd' }], ['a']])
      expect(() => labelsOf(wrong)).toThrow('Labels must be a list of single-entry dicts');
  });
  it('get one value for the parent', () => {
    expect(withLabel([{ p: 'old' }, { a: 'b' }], 'p', 'new')).toEqual([{ a: 'b' }, { p: 'new' }]);
    expect(
      labelValues(
        [
          { key: 'p', value: '1' },
          { key: 'q', value: '2' },
        ],
        'p',
      ),
    ).toEqual(['1']);
  });
});

it('tries ten ids with a suffix, one without', () => {
  expect(candidateIds('d', false)).toEqual(['d']);
  expect(candidateIds('d', true)).toHaveLength(10);
  expect(candidateIds('d', true).at(-1)).toBe('d-9');
});

it('passes parameters of the same workflow on, but not what names things of the parent', () => {
  const ctx = {
    workflowId: 'install',
    workflowParameters: { type_names: ['x'], node_ids: ['n'], node_instance_ids: [] },
  };
  expect(parentParameters({ ctx }, 'install')).toEqual({ parameters: { type_names: ['x'] } });
  expect(parentParameters({ ctx }, 'uninstall')).toEqual({});
});

it('writes events of the child with time, node instance and operation, at their level', () => {
  const event = {
    reported_timestamp: 'T',
    node_instance_id: 'n_1',
    operation: 'cloudify.interfaces.lifecycle.create',
    message: 'm',
  };
  expect(lineOf(event)).toBe('T [n_1.create] m');
  expect(lineOf({ ...event, operation: null })).toBe('T [n_1] m');
  expect(lineOf({ ...event, node_instance_id: null })).toBe('T m');
  expect(['WARNING', 'warn', 'ERROR', 'strange', null].map((level) => levelOf({ level }))).toEqual([
    'warning',
    'warning',
    'error',
    'info',
    'info',
  ]);
});

describe('the condition of a deployment', () => {
  const well = {
    id: 'd',
    installation_status: 'active',
    deployment_status: 'good',
    latest_execution_status: 'completed',
    unavailable_instances: 0,
    drifted_instances: 0,
  } as const;
  it.each([
    [{}, null],
    [{ installation_status: 'inactive' }, "Expected deployment 'd' to be installed"],
    [{ deployment_status: 'in_progress' }, 'to be in a good state'],
    [{ latest_execution_status: 'failed' }, "The latest execution for 'd' failed"],
    [{ unavailable_instances: 2 }, 'There are 2 unavailable instances'],
    [{ drifted_instances: 1 }, 'There are 1 drifted instances'],
  ])('%j: %s', (change, complaint) => {
    const found = complaintOf({ ...well, ...change } as never);
    if (complaint === null) expect(found).toBeNull();
    else expect(found).toContain(complaint);
  });
  it('is good in spite of drift where drift does not count', () => {
    expect(complaintOf({ ...well, drifted_instances: 1 }, false)).toBeNull();
  });
});

describe('another manager', () => {
  it('has an address', () => {
    expect(remoteBaseUrl(remoteClientConfig({ host: 'm' }, 'client'))).toBe('http://m:80');
    expect(remoteBaseUrl(remoteClientConfig({ host: 'm', protocol: 'https' }, 'client'))).toBe(
      'https://m:443',
    );
    expect(remoteBaseUrl(remoteClientConfig({ host: '::1', port: '8080' }, 'client'))).toBe(
      'http://[::1]:8080',
    );
  });
  it('is recorded without its credentials', () => {
    const config = remoteClientConfig(
      { host: 'm', username: 'u', password: 'p', token: 't', tenant: 'x' },
      'client',
    );
    expect(publicPart(config)).toEqual({ host: 'm', tenant: 'x' });
  });
  it('says which setting does not fit', () => {
    expect(() => remoteClientConfig({ host: 'm', port: 'http' }, 'client')).toThrow('client.port');
  });
});
