// Secrets that the plugin keeps for a node instance, at a server over real HTTP.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { makeRig } from '../testing/operation-rig';

const secrets = new Map<string, string>();
let server: Server;

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const name = decodeURIComponent(request.url!.replace('/api/v3.1/secrets/', ''));
    if (request.method === 'PUT') secrets.set(name, JSON.parse(Buffer.concat(pieces).toString()).value);
    const value = secrets.get(name);
    if (request.method === 'DELETE') secrets.delete(name);
    response.writeHead(value === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ key: name, value }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  Object.assign(process.env, { REST_PROTOCOL: 'http', REST_HOST: '127.0.0.1', REST_PORT: String(port) });
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

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
  expect([...secrets.values()].sort()).toEqual(['another', 'listed', 'word of the site']);
  expect([...secrets.keys()].sort()).toEqual([...names].sort());
  for (const name of names)
    expect(name).toMatch(/^ansible-dep-play_abc123-run_data-(to_?ken|0)-[0-9a-f]{8}$/);
  expect(data.token).toEqual({ get_secret: expect.any(String) });

  await rig.run('cleanup');
  expect([secrets.size, rig.runtime]).toEqual([0, {}]);
});

it('stay the same ones when the operation runs again', async () => {
  const rig = makeRig('/none');
  await rig.run('set_playbook_config', inputs);
  const first = [...secrets.keys()];
  await rig.run('set_playbook_config', inputs);
  expect([...secrets.keys()]).toEqual(first);
  await rig.run('cleanup');
});
