// A worker may read only the parts of its lease's plan, and nothing else of the tenant; a service may read anything.
import type { HeldLease } from '@baton/trust';
import { blueprintTgz } from './testing/archives';
import { startCatalog, type TestCatalog } from './testing/catalog-setup';
import { bundle, yaml } from './testing/plugin-archives';

const contentType = 'application/octet-stream';
const HEAD = 'tosca_definitions_version: cloudify_dsl_1_4\n';
const tenant = 'default_tenant';

let catalog: TestCatalog;
let plugin: string;
beforeAll(async () => {
  catalog = await startCatalog();
  const posted = await catalog.call('POST', '/plugins', {
    raw: await bundle('1.2.3', { 'plugin.yaml': yaml('1.2.3') }),
    contentType,
  });
  plugin = posted.body.id;
  await upload('deep', 'cloudify/types/types.yaml');
  await upload('base', 'deep--blueprint:deep');
  await upload('mine', 'base--blueprint:base');
  await upload('other', 'cloudify/types/types.yaml');
  const node =
    'node_types:\n  mine: {derived_from: x.Node, interfaces: {i: {go: x.m.go}}}\nnode_templates:\n  n: {type: mine}\n';
  await upload('plugged', '"plugin:x-plugin"', node);
});
afterAll(() => catalog.close());

async function upload(id: string, imported: string, more = ''): Promise<void> {
  const types =
    imported === 'cloudify/types/types.yaml' ? imported : `cloudify/types/types.yaml, ${imported}`;
  const raw = await blueprintTgz({ 'blueprint.yaml': `${HEAD}imports: [${types}]\n${more}`, 'run.sh': id });
  const { status, body } = await catalog.call('PUT', `/blueprints/${id}`, { raw, contentType });
  expect([id, status, body.message]).toEqual([id, 201, undefined]);
}

/** Returns the call options of a worker that holds an operation of a deployment of that blueprint; null: of a service. */
function by(blueprintId: string | null): never {
  const lease = { workerId: 'w1', tenant, blueprintId } as HeldLease;
  const admitted =
    blueprintId === null
      ? { caller: { name: 'deployments', workerId: '' }, lease: null }
      : { caller: { name: 'worker', workerId: 'w1' }, lease };
  return { admitted } as never;
}

async function outcome(work: () => Promise<unknown>): Promise<string> {
  try {
    return String(await work());
  } catch (error) {
    return (error as { code: string }).code;
  }
}

const textOf = async (chunks: AsyncIterable<{ data: Uint8Array }>): Promise<string> => {
  const parts: Uint8Array[] = [];
  for await (const { data } of chunks) parts.push(data);
  return Buffer.concat(parts).toString();
};
const file = (of: string | null, blueprintId: string) =>
  outcome(() => textOf(catalog.rpc.readBlueprintFile({ tenant, blueprintId, path: 'run.sh' }, by(of))));
const folder = (of: string | null, blueprintId: string) =>
  outcome(
    async () => (await catalog.rpc.listBlueprintFiles({ tenant, blueprintId, folder: '' }, by(of))).paths,
  );
const head = (of: string | null, blueprintId: string) =>
  outcome(async () => (await catalog.rpc.getBlueprint({ tenant, blueprintId }, by(of))).id);

test('the blueprint of the lease and what it imports, however deep, are read; others are not', async () => {
  for (const blueprintId of ['mine', 'base', 'deep']) {
    expect(await file('mine', blueprintId)).toBe(blueprintId);
    expect(await folder('mine', blueprintId)).toBe('blueprint.yaml,run.sh');
    expect(await head('mine', blueprintId)).toBe(blueprintId);
  }
  for (const read of [file, folder, head]) {
    expect(await read('mine', 'other')).toBe('forbidden_error');
    // An import does not work in the opposite direction either, and a lease without a blueprint allows nothing.
    expect(await read('deep', 'mine')).toBe('forbidden_error');
    expect(await read('', 'mine')).toBe('forbidden_error');
    expect(await read('mine', 'nosuch')).toBe('forbidden_error');
    // Control: a service is not limited.
    expect(await read(null, 'other')).not.toBe('forbidden_error');
  }
});

test('plugins that the plan declares are found and read; others are not', async () => {
  const find = (of: string | null, packageName: string) =>
    outcome(
      async () =>
        (await catalog.rpc.findPlugins({ tenant, queries: [{ packageName }] }, by(of))).plugins.length,
    );
  const wagon = (of: string | null) =>
    outcome(
      async () => (await textOf(catalog.rpc.readWagon({ tenant, pluginId: plugin }, by(of)))).length > 0,
    );
  expect([await find('plugged', 'x-plugin'), await wagon('plugged')]).toEqual(['1', 'true']);
  expect([await find('mine', 'x-plugin'), await wagon('mine')]).toEqual([
    'forbidden_error',
    'forbidden_error',
  ]);
  expect([await find(null, 'x-plugin'), await wagon(null)]).toEqual(['1', 'true']);
});
