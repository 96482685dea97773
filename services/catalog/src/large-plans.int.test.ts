import { isAppError, readFoldedJson } from '@baton/kernel';
import { blueprintTgz } from './testing/archives';
import { admin, startCatalog, type TestCatalog } from './testing/catalog-setup';

/** Most bytes of a message between services: 64 MiB. */
const MESSAGE_BYTES = 64 * 1024 * 1024;
/** Number of nodes, 13.6 KB each, that makes the plan larger than a message. */
const NODES = 5_500;

const MAIN = `tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
node_templates:
${Array.from({ length: NODES }, (_, i) => `  node_${i}: {type: cloudify.nodes.Root}`).join('\n')}
`;

let catalog: TestCatalog;
beforeAll(async () => {
  catalog = await startCatalog();
});
afterAll(() => catalog.close());

const of = { tenant: 'default_tenant', blueprintId: 'large' };

it('a plan larger than a message is uploaded, read by services in pieces, and answered whole to who asks', async () => {
  const answer = await catalog.call('PUT', '/blueprints/large', {
    raw: await blueprintTgz({ 'blueprint.yaml': MAIN }),
    contentType: 'application/octet-stream',
  });
  expect(answer.status).toBe(201);
  expect(answer.body).toMatchObject({ id: 'large', state: 'uploaded', plan: null });

  const { digest } = await catalog.rpc.getBlueprint(of);
  const pieces: Uint8Array[] = [];
  for await (const { data } of catalog.rpc.readPlan({ ...of, digest })) pieces.push(data);
  const plan = readFoldedJson(Buffer.concat(pieces).toString()) as { nodes: { operations: object }[] };
  expect(plan.nodes).toHaveLength(NODES);
  expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThan(300_000);

  // Counted chunk by chunk, so that 75 MB are never in memory at once.
  const { url, headers } = await catalog.signed(admin);
  const lengthOf = async (path: string): Promise<number> => {
    let bytes = 0;
    const { body } = await fetch(`${url}/api/v3.1${path}`, { headers });
    for await (const chunk of body!) bytes += chunk.length;
    return bytes;
  };
  expect(await lengthOf('/blueprints/large')).toBeGreaterThan(MESSAGE_BYTES);
  const list = await catalog.call('GET', '/blueprints');
  expect(list.body.items).toMatchObject([{ id: 'large', plan: null }]);
  // A plan that lists have cached as omitted is returned when it is asked for.
  expect(await lengthOf('/blueprints?_include=plan')).toBeGreaterThan(MESSAGE_BYTES);
}, 120_000);

it('callers of an older release are refused, instead of reading a plan that they do not understand', async () => {
  const old = await catalog.rpc.getBlueprint({ ...of, withPlan: true }).catch((error: unknown) => error);
  expect(isAppError(old, 'payload_too_large_error')).toBe(true);
  const stale = catalog.rpc.readPlan({ ...of, digest: 'another' })[Symbol.asyncIterator]();
  const moved = await stale.next().catch((error: unknown) => error);
  expect(isAppError(moved, 'conflict_error')).toBe(true);
});
