// Secrets that the plugin keeps for a node instance, at a server over real HTTP.
import { type ManagerDouble, startManagerDouble } from '../testing/manager-double';
import { makeRig } from '../testing/operation-rig';

let manager: ManagerDouble;
beforeAll(async () => {
  manager = await startManagerDouble();
});
afterAll(() => manager.close());

const inputs = {
  run_data: {
    token: 'word of the site',
    'to ken': 'another',
    nested: [{ token: ['listed'] }],
    open: 'shown',
  },
  sources: '',
  sensitive_keys: ['token', 'to ken'],
};

it('are made in place of sensitive values, each with a name of its own, and removed by cleanup', async () => {
  const rig = makeRig('/none');
  rig.runtime = { sources: { all: {} } };
  await rig.run('set_playbook_config', inputs);
  const {
    run_data: data,
    ansible_secrets: names,
    sources,
  } = rig.runtime as {
    run_data: Record<string, unknown>;
    ansible_secrets: string[];
    sources: object;
  };
  expect(data.open).toBe('shown');
  expect(sources).toEqual({ all: {} });
  expect(JSON.stringify(rig.runtime)).not.toMatch(/word of the site|another|listed/);
  expect([...manager.secrets.values()].sort()).toEqual(['another', 'listed', 'word of the site']);
  expect([...manager.secrets.keys()].sort()).toEqual([...names].sort());
  for (const name of names)
    expect(name).toMatch(/^ansible-dep-play_abc123-run_data-(to_?ken|0)-[0-9a-f]{8}$/);
  expect(data.token).toEqual({ get_secret: expect.any(String) });

  await rig.run('cleanup');
  expect([manager.secrets.size, rig.runtime]).toEqual([0, {}]);
});

it('stay the same ones when the operation runs again', async () => {
  const rig = makeRig('/none');
  await rig.run('set_playbook_config', inputs);
  const first = [...manager.secrets.keys()];
  await rig.run('set_playbook_config', inputs);
  expect([...manager.secrets.keys()]).toEqual(first);
  await rig.run('cleanup');
});
