import { definePlugin, nodeType } from '../index';
import { crashEverywhere, testNode } from '.';
import { emptyRecords, samplePlugin } from './sample-plugin';

const TYPE = 'dns.nodes.Record';

it('an operation whose effects stand in steps survives a crash behind each of them', async () => {
  let records = emptyRecords();
  const crashes = await crashEverywhere(
    () => {
      records = emptyRecords();
      const properties = { zone: 'example.org', ip: '10.0.0.1' };
      return testNode(samplePlugin(records), TYPE, { properties, secrets: { dns_token: 's3cr3t' } });
    },
    'create',
    { effects: () => records.calls },
  );
  expect(crashes.map(({ after, node }) => [after, node.runtimeProperties])).toEqual([
    ['make', { id: 'r1' }],
    ['announce', { id: 'r1' }],
  ]);
});

/** A plugin of one operation, which is resumable. */
const pluginOf = (create: Parameters<typeof nodeType>[0]['create'], resumable: 'create'[] = ['create']) =>
  definePlugin({ name: 'p', version: '1.0.0', types: { 'p.T': nodeType({ create, resumable }) } });

it('an effect beside the steps is found', async () => {
  const calls: string[] = [];
  const plugin = pluginOf(async ({ step }) => {
    calls.push('beside');
    await step('in a step', async () => calls.push('inside'));
  });
  const make = () => {
    calls.length = 0;
    return testNode(plugin, 'p.T');
  };
  await expect(crashEverywhere(make, 'create', { effects: () => calls })).rejects.toThrow(
    'with a crash after in a step: beside happened more than once; put it into a step',
  );
});

it('keys that differ between attempts are found', async () => {
  let attempt = 0;
  const plugin = pluginOf(async ({ step }) => {
    await step(`attempt ${++attempt}`, async () => 1);
  });
  await expect(crashEverywhere(() => testNode(plugin, 'p.T'), 'create')).rejects.toThrow(
    /did not reach the step attempt 1 again/,
  );
});

it('one key for two steps is refused: the second work would never run', async () => {
  const plugin = pluginOf(async ({ step }) => {
    await step('same', async () => 1);
    await step('same', async () => 2);
  });
  await expect(testNode(plugin, 'p.T').run('create')).rejects.toThrow(
    'the step same was used before in this operation',
  );
});

it('says when an operation is not resumable, has no steps or does not exist', async () => {
  const plain = () =>
    testNode(
      pluginOf(() => 1, []),
      'p.T',
    );
  await expect(crashEverywhere(plain, 'create')).rejects.toThrow('create is not resumable');
  const stepless = () =>
    testNode(
      pluginOf(() => 1),
      'p.T',
    );
  await expect(crashEverywhere(stepless, 'create')).rejects.toThrow('create has no steps');
  await expect(plain().run('creat')).rejects.toThrow(
    'there is no operation creat, only create; did you mean create?',
  );
  expect(() =>
    testNode(
      pluginOf(() => 1),
      'p.S',
    ),
  ).toThrow('there is no type p.S, only p.T');
});
