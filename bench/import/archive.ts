// Archives of estates for the bench of imports, in the layout of Cloudify 7.1; no original made them. They are written piece by piece.
import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { pack } from 'tar-stream';
import { ZipFile } from 'yazl';

export interface EstateSize {
  /** With one node, ten instances of 2 KiB, one execution and 50 events of 1 KiB each: some 75 KiB. */
  deployments: number;
  /** With an archive of 40 MB each. */
  blueprints: number;
}

const INSTANCES = 10;
const EVENTS = 50;
const PAGE = 500;
const PIECE = 1_000_000;
const PIECES = 40;
const FILLER = 'x'.repeat(1_000);
const AT = '2026-01-01T00:00:00.000Z';

type Item = Record<string, unknown>;

/** Writes an archive; returns the bytes of the pages before compression. */
export async function writeArchive(path: string, { deployments, blueprints }: EstateSize): Promise<number> {
  const zip = new ZipFile();
  const written = pipeline(zip.outputStream as Readable, createWriteStream(path));
  let bytes = 0;
  let number = 0;
  const add = async (folder: string, page: object): Promise<void> => {
    const text = Buffer.from(JSON.stringify(page));
    bytes += text.length;
    const content = Readable.from([text]);
    zip.addReadStream(content, `${folder}/${String(++number).padStart(8, '0')}.json`);
    // One page at a time: the archive may be larger than memory.
    await new Promise((resolve) => content.once('end', resolve));
  };
  const ids = Array.from({ length: deployments }, (_, i) => `d${i}`);
  await add('mgmt', { type: 'tenants', items: [{ name: 'default_tenant' }] });
  const tenant = 'tenants/default_tenant';
  const names = numbers(blueprints).map((i) => `big-${i}`);
  for (const some of pagesOf(names)) await add(tenant, { type: 'blueprints', items: some.map(blueprint) });
  for (const name of names) {
    const content = blueprintArchive();
    zip.addReadStream(content, `${tenant}/blueprints/${name}.tar.gz`, { compress: false });
    await new Promise((resolve) => content.once('end', resolve));
  }
  for (const some of pagesOf(ids)) await add(tenant, { type: 'deployments', items: some.map(deployment) });
  for (const id of ids) await add(tenant, { type: 'nodes', source_id: id, items: [node] });
  for (const id of ids)
    await add(tenant, {
      type: 'node_instances',
      source_id: id,
      items: numbers(INSTANCES).map((i) => instance(id, i)),
    });
  for (const some of pagesOf(ids)) await add(tenant, { type: 'executions', items: some.map(execution) });
  for (const [i] of ids.entries())
    await add(tenant, {
      type: 'events',
      source: 'executions',
      source_id: executionId(i),
      items: numbers(EVENTS).map(event),
    });
  zip.addBuffer(Buffer.from(JSON.stringify({ snapshot_version: '7.1.0' })), 'metadata.json');
  zip.end();
  await written;
  return bytes;
}

const YAML = `tosca_definitions_version: cloudify_dsl_1_3
imports: [cloudify/types/types.yaml]
node_templates:
  n: { type: cloudify.nodes.Root }
`;

/** A blueprint beside a large file whose bytes do not compress. */
function blueprintArchive(): Readable {
  const tar = pack();
  tar.entry({ name: 'b/blueprint.yaml' }, YAML);
  const file = tar.entry({ name: 'b/image.bin', size: PIECE * PIECES });
  function* pieces(): Generator<Buffer> {
    for (let i = 0; i < PIECES; i++) yield randomBytes(PIECE);
  }
  void pipeline(Readable.from(pieces(), { objectMode: false }), file).then(() => tar.finalize());
  // The content does not compress: to try would take most of the time.
  return tar.pipe(createGzip({ level: 0 }));
}

const numbers = (length: number): number[] => Array.from({ length }, (_, i) => i);
const pagesOf = (ids: readonly string[]): string[][] =>
  numbers(Math.ceil(ids.length / PAGE)).map((i) => ids.slice(i * PAGE, (i + 1) * PAGE));
const executionId = (i: number): string => `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`;
const owned = { visibility: 'tenant', created_by: 'admin', created_at: AT };

const blueprint = (id: string): Item => ({
  id,
  ...owned,
  main_file_name: 'blueprint.yaml',
  state: 'uploaded',
  description: '',
  is_hidden: false,
  labels: [],
});
const deployment = (id: string): Item => ({
  id,
  ...owned,
  blueprint_id: 'b',
  inputs: {},
  outputs: {},
  capabilities: {},
  groups: {},
  scaling_groups: {},
  policy_types: {},
  policy_triggers: {},
  workflows: [],
  labels: [],
  installation_status: 'active',
});
const node: Item = {
  id: 'n',
  ...owned,
  type: 'cloudify.nodes.Root',
  type_hierarchy: ['cloudify.nodes.Root'],
  number_of_instances: INSTANCES,
  planned_number_of_instances: INSTANCES,
  deploy_number_of_instances: INSTANCES,
  plugins: [],
  properties: {},
  relationships: [],
  operations: {},
};
const instance = (id: string, i: number): Item => ({
  id: `n_${id}_${i}`,
  node_id: 'n',
  ...owned,
  index: i + 1,
  state: 'started',
  relationships: [],
  runtime_properties: { one: FILLER, two: FILLER },
  system_properties: {},
  scaling_groups: [],
});
const execution = (id: string): Item => ({
  id: executionId(Number(id.slice(1))),
  ...owned,
  deployment_id: id,
  workflow_id: 'install',
  status: 'terminated',
  parameters: {},
  started_at: AT,
  ended_at: AT,
});
const event = (i: number): Item => ({
  timestamp: `2026-01-01T00:00:${String(i).padStart(2, '0')}.000Z`,
  reported_timestamp: `2026-01-01T00:00:${String(i).padStart(2, '0')}.000Z`,
  type: 'cloudify_event',
  event_type: 'task_started',
  message: FILLER,
});
