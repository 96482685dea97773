import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mountSmallDisk } from '@baton/testkit';
import { archiveOf } from '../../harness/session';
import { headersOf, readOnce } from '../read-once';
import type { Rig } from '../rig';
import { type Row, type Struck, underLoad } from '../row';
import { pause, until } from '../until';

/** Uploads interrupted by a client, a gateway or a disk. */
export const fileRows: Row[] = [
  {
    id: 'F21',
    limitS: 300,
    title:
      'uploads cut at 99 %, gateway and catalog killed in the middle of one, slow-loris, headers of 1 MB',
    pass: 'no half blueprint is seen, temporary files are gone 60 s later, others are answered within 2 s, the same upload works afterwards',
    run: (at) => underLoad(at, () => cutUploads(at.rig)),
  },
  {
    id: 'F22',
    limitS: 240,
    title:
      'archives that are missing or damaged, a disk that is full at some byte, a disk that can only be read',
    pass: 'no damaged byte is answered as whole; uploads get 507 or 503 and nothing of them is seen; everything works afterwards',
    needsDisks: true,
    run: (at) => underLoad(at, () => brokenStore(at.rig)),
  },
];

const SWEPT_MS = 60_000;
const CALM_MS = 2_000;
/** Number of connections that send one byte now and then. */
const SLOW = 100;

/** Returns a blueprint archive with incompressible content. */
function archive(bytes: number): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'fault-upload-'));
  try {
    mkdirSync(join(folder, 'large'));
    writeFileSync(join(folder, 'large/blueprint.yaml'), MAIN);
    writeFileSync(join(folder, 'large/content.bin'), randomBytes(bytes));
    return archiveOf(join(folder, 'large'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
const MAIN =
  'tosca_definitions_version: cloudify_dsl_1_4\nnode_types:\n  root: {}\nnode_templates:\n  web: {type: root}\n';

const temporaryFiles = (rig: Rig): string[] => [
  ...readdirSync(rig.temporary),
  ...readdirSync(join(rig.fleet.dir, 'blobs/incoming')),
];

function open(rig: Rig): Socket {
  const { hostname, port } = new URL(rig.fleet.baseUrl);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  return socket;
}

const uploadHead = (rig: Rig, id: string, bytes: number): string =>
  [
    `PUT /api/v3.1/blueprints/${id} HTTP/1.1`,
    `Host: ${new URL(rig.fleet.baseUrl).host}`,
    ...Object.entries(headersOf(rig.fleet.adminPassword)).map(([name, value]) => `${name}: ${value}`),
    'Content-Type: application/octet-stream',
    `Content-Length: ${bytes}`,
    '\r\n',
  ].join('\r\n');

/** Sends a part of an upload; resolves when catalog has stored some of it on its disk. */
async function beginUpload(rig: Rig, id: string, body: Buffer, share: number): Promise<Socket> {
  const before = new Set(temporaryFiles(rig));
  const socket = open(rig);
  socket.write(uploadHead(rig, id, body.length));
  socket.write(body.subarray(0, Math.floor(body.length * share)));
  await until('a part of an upload on the disk', 15_000, () =>
    temporaryFiles(rig).some((name) => !before.has(name)),
  );
  return socket;
}

async function seen(rig: Rig, id: string): Promise<number> {
  const { status } = await fetch(`${rig.fleet.baseUrl}/api/v3.1/blueprints/${id}`, {
    headers: headersOf(rig.fleet.adminPassword),
  });
  return status;
}

async function put(rig: Rig, id: string, body: Buffer): Promise<{ status: number; text: string }> {
  const answer = await fetch(`${rig.fleet.baseUrl}/api/v3.1/blueprints/${id}`, {
    method: 'PUT',
    headers: { ...headersOf(rig.fleet.adminPassword), 'content-type': 'application/octet-stream' },
    body: body as never,
  }).catch(() => null);
  return { status: answer?.status ?? 0, text: (await answer?.text().catch(() => '')) ?? '' };
}

async function cutUploads(rig: Rig): Promise<Struck> {
  const violations: string[] = [];
  const body = archive(4_000_000);
  const swept: string[] = [];
  const victims = [
    { id: `cut-${randomBytes(3).toString('hex')}`, share: 0.99, kill: null },
    { id: `gateway-${randomBytes(3).toString('hex')}`, share: 0.6, kill: 'gateway' },
    { id: `catalog-${randomBytes(3).toString('hex')}`, share: 0.6, kill: 'catalog' },
  ];
  for (const { id, share, kill } of victims) {
    const socket = await beginUpload(rig, id, body, share);
    if (kill === null) socket.destroy();
    else await rig.kill(kill);
    await rig.heal();
    socket.destroy();
    const since = performance.now();
    // A killed service causes 503 until it is back.
    const status = await until('an answer about the blueprint', 20_000, async () => {
      const answer = await seen(rig, id);
      return answer < 500 ? answer : null;
    });
    if (status !== 404) violations.push(`F21: half of an upload (${id}) is answered ${status}`);
    await until(`temporary files of ${id} gone`, SWEPT_MS, () => temporaryFiles(rig).length === 0).then(
      () => swept.push(seconds(performance.now() - since)),
      (error: Error) => violations.push(`F21: ${error.message}: ${temporaryFiles(rig).join(', ')}`),
    );
    const again = await put(rig, id, body);
    if (again.status !== 201)
      violations.push(`F21: the same upload again is answered ${again.status} ${again.text}`);
  }
  const slow = await slowClients(rig);
  violations.push(...slow.violations);
  return { facts: { 'temporary files gone after': swept.join(', '), ...slow.facts }, violations };
}

/** Slow clients and a client with headers of a megabyte: other clients must still be served. */
async function slowClients(rig: Rig): Promise<Struck & { facts: object; violations: string[] }> {
  const violations: string[] = [];
  const sockets = Array.from({ length: SLOW }, () => open(rig));
  let slowest = 0;
  try {
    for (const socket of sockets) socket.write('GET /api/v3.1/blueprints HTTP/1.1\r\nX-Slow: ');
    const end = performance.now() + 8_000;
    while (performance.now() < end) {
      for (const socket of sockets) if (!socket.destroyed) socket.write('a');
      const { status, ms } = await readOnce(rig);
      slowest = Math.max(slowest, ms);
      if (status !== 200) violations.push(`F21: another request was answered ${status} meanwhile`);
      await pause(500);
    }
  } finally {
    for (const socket of sockets) socket.destroy();
  }
  if (slowest > CALM_MS) violations.push(`F21: another request took ${seconds(slowest)}, allowed 2 s`);
  const large = open(rig);
  const answered = new Promise<string>((resolve) => {
    let text = '';
    large.on('data', (piece) => (text += piece.toString()));
    large.on('close', () => resolve(text));
  });
  large.write(`GET /api/v3.1/blueprints HTTP/1.1\r\nHost: x\r\nX-Large: ${'a'.repeat(1_048_576)}\r\n\r\n`);
  const first =
    (await Promise.race([answered, pause(10_000).then(() => 'no answer')])).split('\r\n')[0] ?? '';
  large.destroy();
  if (!/^HTTP\/1\.1 4\d\d/.test(first) && first !== '')
    violations.push(`F21: headers of 1 MB were answered ${first}`);
  const after = await readOnce(rig);
  if (after.status !== 200) violations.push(`F21: after headers of 1 MB the manager answers ${after.status}`);
  return {
    facts: { 'slowest of others': seconds(slowest), 'headers of 1 MB': first === '' ? 'closed' : first },
    violations,
  };
}

async function brokenStore(rig: Rig): Promise<Struck> {
  const violations: string[] = [];
  const id = `stored-${randomBytes(3).toString('hex')}`;
  const body = archive(3_000_000);
  const uploaded = await put(rig, id, body);
  if (uploaded.status !== 201) throw new Error(`no blueprint to break: ${uploaded.status} ${uploaded.text}`);
  const [row] = await rig.sql<{ archive_digest: string }>(
    'select archive_digest from catalog.blueprints where id = $1',
    [id],
  );
  const path = join(rig.fleet.dir, 'blobs', row!.archive_digest.slice(0, 2), row!.archive_digest);
  violations.push(...(await damagedArchive(rig, id, path, body)));
  const disks = await smallDisk(rig);
  violations.push(...disks.violations);
  return { facts: { id, ...disks.facts }, violations };
}

/** Downloads the archive. Returns the status, or `broken` when the answer did not arrive completely. */
async function download(rig: Rig, id: string): Promise<{ status: number | 'broken'; bytes: Buffer }> {
  const answer = await fetch(`${rig.fleet.baseUrl}/api/v3.1/blueprints/${id}/archive`, {
    headers: headersOf(rig.fleet.adminPassword),
  });
  const bytes = await answer.arrayBuffer().catch(() => null);
  return { status: bytes ? answer.status : 'broken', bytes: bytes ? Buffer.from(bytes) : Buffer.alloc(0) };
}

async function damagedArchive(rig: Rig, id: string, path: string, body: Buffer): Promise<string[]> {
  const violations: string[] = [];
  const content = readFileSync(path);
  const flipped = Buffer.from(content);
  flipped[flipped.length >> 1]! ^= 1;
  writeFileSync(path, flipped);
  const damaged = await download(rig, id);
  if (damaged.status === 200) violations.push('F22: a damaged archive was answered as a whole one');
  writeFileSync(path, content.subarray(0, content.length - 10));
  const short = await download(rig, id);
  if (short.status === 200) violations.push('F22: a cut archive was answered as a whole one');
  renameSync(path, `${path}-away`);
  const missing = await download(rig, id);
  if (missing.status !== 404) violations.push(`F22: a missing archive was answered ${missing.status}`);
  rmSync(`${path}-away`);
  writeFileSync(path, content);
  const whole = await download(rig, id);
  if (whole.status !== 200 || !whole.bytes.equals(body))
    violations.push(`F22: the archive that is back was answered ${whole.status}`);
  return violations;
}

/** Uploads to a disk that is full after a number of bytes, and to a read-only disk. */
async function smallDisk(rig: Rig): Promise<{ facts: Record<string, string>; violations: string[] }> {
  const violations: string[] = [];
  const answers: string[] = [];
  const store = join(rig.fleet.dir, 'blobs');
  const disk = mountSmallDisk(store, 4 * 1_048_576);
  const expectRefused = async (id: string, bytes: number, status: number): Promise<void> => {
    const answer = await put(rig, id, archive(bytes));
    answers.push(String(answer.status));
    if (answer.status !== status)
      violations.push(`F22: ${id} was answered ${answer.status} ${answer.text.slice(0, 200)}`);
    if ((await seen(rig, id)) !== 404) violations.push(`F22: ${id} is seen although it was refused`);
    if (existsSync(join(store, 'incoming')) && readdirSync(join(store, 'incoming')).length > 0)
      violations.push(`F22: ${id} left a draft`);
  };
  try {
    for (const bytes of [4_300_000, 5_000_000, 2_500_000]) await expectRefused(`full-${bytes}`, bytes, 507);
    disk.remount('ro');
    await expectRefused('read-only', 100_000, 503);
    disk.remount('rw');
    const again = await put(rig, `small-${randomBytes(3).toString('hex')}`, archive(100_000));
    if (again.status !== 201) violations.push(`F22: with room again an upload was answered ${again.status}`);
  } finally {
    disk.unmount();
  }
  return { facts: { 'answers of a full and of a read-only disk': answers.join(', ') }, violations };
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
