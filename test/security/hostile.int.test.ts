// S11 to S16 and S18 against a running manager: the cost and the reach of hostile archives, blueprints, addresses and paths. Unit
// tests beside each parser check its refusals in detail (docs/SECURITY.md); here the complete path is tested, including its cost.

import { existsSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { eventually } from '@baton/testkit/eventually';
import { type TestEntry, tgzOf, zipOf } from '../../services/catalog/src/testing/archives';
import { wagon } from '../contract/world';
import { type Fleet, startFleet } from '../harness/fleet';
import { type Answered, type Caller, callerOf, type Who } from './caller';

const MIB = 1 << 20;
const DSL = 'tosca_definitions_version: cloudify_dsl_1_4\n';
const PLAIN = `${DSL}inputs: {}\n`;

let fleet: Fleet;
let caller: Caller;
let alice: Who;
/** A server on this machine that counts its requests. */
let inside: Server;
let hits = 0;
let answerWith: (request: IncomingMessage, response: ServerResponse) => void;
let port = 0;

beforeAll(async () => {
  inside = createServer((request, response) => {
    hits += 1;
    answerWith(request, response);
  });
  await new Promise<void>((resolve) => inside.listen(0, '::', resolve));
  port = (inside.address() as AddressInfo).port;
  fleet = await startFleet({ mode: 'standalone', workers: 0, env: { BATON_LOG_LEVEL: 'error' } });
  caller = callerOf(fleet);
  alice = await caller.user('alice', 'default_tenant', 'user');
  // The first parse starts the threads, so that later measurements do not include their start.
  await blueprint('warm', await tgzOf([{ name: 'bp/blueprint.yaml', content: PLAIN }]));
}, 120_000);
beforeEach(() => {
  hits = 0;
  answerWith = (_request, response) => response.end('secret of the inside');
});
afterAll(async () => {
  await fleet?.stop();
  inside?.closeAllConnections();
  await new Promise((resolve) => inside?.close(resolve));
}, 60_000);

const blueprint = (id: string, archive: Buffer, query = ''): Promise<Answered> =>
  caller.send(alice, 'PUT', `/blueprints/${id}${query}`, undefined, archive);
const yaml = async (id: string, text: string): Promise<Answered> =>
  blueprint(id, await tgzOf([{ name: 'bp/blueprint.yaml', content: text }]));

/** Measures the cost of `work` for the manager: seconds of CPU, bytes written to files, growth of its memory in MiB. */
async function priceOf<T>(
  work: () => Promise<T>,
): Promise<{ result: T; cpuS: number; writtenMib: number; grownMib: number }> {
  const pid = fleet.processes.get('standalone')!.pid();
  const read = (file: string) => readFileSync(`/proc/${pid}/${file}`, 'utf8');
  const now = () => {
    const stat = read('stat')
      .slice(read('stat').lastIndexOf(')') + 2)
      .split(' ');
    return {
      cpu: (Number(stat[11]) + Number(stat[12])) / 100,
      written: Number(/^write_bytes: (\d+)/m.exec(read('io'))![1]) / MIB,
      peak: Number(/^VmRSS:\s+(\d+)/m.exec(read('status'))![1]) / 1024,
    };
  };
  const before = now();
  const result = await work();
  const after = now();
  return {
    result,
    cpuS: after.cpu - before.cpu,
    writtenMib: after.written - before.written,
    grownMib: after.peak - before.peak,
  };
}

/** Returns a gzip of one tar entry of 10 GB of zeros: 10 MB, the same member a thousand times. */
function tenGigabytes(): Buffer {
  const header = Buffer.alloc(512);
  header.write('bp/zeros');
  header.write('0000644\0', 100);
  // base-256 encoding: the size is too large for octal digits
  header.writeUInt8(0x80, 124);
  header.writeBigUInt64BE(10_000_000_000n, 128);
  header.write('0', 156);
  header.write('ustar\0' + '00', 257);
  header.fill(' ', 148, 156);
  const sum = header.reduce((n, byte) => n + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  const zeros = gzipSync(Buffer.alloc(10_000_000), { level: 9 });
  return Buffer.concat([gzipSync(header), ...Array.from({ length: 1000 }, () => zeros)]);
}

const nested = (): Buffer => {
  let inner = zipOf([{ name: 'bp/x', content: Buffer.alloc(20 * MIB) }]);
  for (let depth = 0; depth < 5; depth++)
    inner = zipOf(Array.from({ length: 16 }, (_, i) => ({ name: `bp/${i}.zip`, content: inner })));
  return inner;
};

describe('S11: archives that grow', () => {
  const bombs: [string, () => Promise<Buffer> | Buffer][] = [
    ['10 GB of zeros', tenGigabytes],
    [
      'a zip of 2 GB',
      () =>
        zipOf([
          { name: 'bp/blueprint.yaml', content: PLAIN },
          ...Array.from({ length: 20 }, (_, i) => ({ name: `bp/${i}`, content: ZEROS })),
        ]),
    ],
    ['60,000 entries', () => tgzOf(Array.from({ length: 60_000 }, (_, i) => ({ name: `bp/${i}` })))],
    ['archives in archives', nested],
  ];
  const ZEROS = Buffer.alloc(100 * MIB);

  test.each(bombs)(
    '%s: refused at a small price',
    async (_name, make) => {
      const archive = await make();
      for (const send of [
        () => blueprint('bomb', archive),
        () => caller.send(alice, 'POST', '/plugins', undefined, archive),
      ]) {
        const { result, cpuS, writtenMib } = await priceOf(send);
        expect([result.status, result.body.error_code]).toEqual([
          400,
          expect.stringMatching(/^(invalid|bad)_/),
        ]);
        expect(cpuS).toBeLessThan(5);
        expect(writtenMib).toBeLessThan(100);
      }
    },
    180_000,
  );
});

describe('S12: entries that lead out', () => {
  const canary = `${'../'.repeat(12)}tmp/baton-slip-canary-${process.pid}`;
  const entries: TestEntry[] = [
    { name: `bp/${canary}` },
    { name: `/tmp/baton-slip-canary-${process.pid}` },
    { name: 'C:\\evil' },
    { name: 'bp/\0evil' },
    { name: 'bp/l', type: 'symlink', link: '/tmp' },
  ];

  test.each([
    ['tar.gz', tgzOf],
    ['zip', async (list: TestEntry[]) => zipOf(list)],
  ] as const)('%s: nothing is written outside, and the answer names the entry', async (_kind, make) => {
    for (const entry of entries) {
      if (_kind === 'tar.gz' && entry.name.includes('\0')) continue;
      const archive = await make([{ name: 'bp/blueprint.yaml', content: PLAIN }, entry]);
      const answer = await blueprint('slip', archive);
      expect([answer.status, answer.body.entry]).toEqual([400, entry.name]);
      const plugin = await caller.send(alice, 'POST', '/plugins', undefined, archive);
      expect(plugin.status).toBe(400);
    }
    // A valid plugin that also contains one such entry.
    const evil = await make([
      { name: 'plugin.wgn', content: wagon('slip') },
      { name: 'plugin.yaml', content: 'plugins: {}' },
      { name: canary },
    ]);
    expect((await caller.send(alice, 'POST', '/plugins', undefined, evil)).status).toBe(400);
    expect(existsSync(`/tmp/baton-slip-canary-${process.pid}`)).toBe(false);
    expect((await caller.must(alice, 'GET', '/plugins')).items).toEqual([]);
  });

  test('a snapshot with a way out is stored as a file and refused whole when it is restored', async () => {
    const archive = zipOf([
      { name: canary, content: 'x' },
      { name: 'manifest.json', content: '{}' },
    ]);
    expect(
      (await caller.send(caller.admin, 'PUT', '/snapshots/slip/archive', undefined, archive)).status,
    ).toBe(201);
    const { id } = await caller.must(caller.admin, 'POST', '/snapshots/slip/restore', { force: true });
    const ended = await until(async () => {
      const execution = await caller.must(caller.admin, 'GET', `/executions/${id}`);
      return execution.ended_at ? execution : null;
    });
    expect(ended.status).toBe('failed');
    expect(ended.error).toMatch(/refused/);
    expect(existsSync(`/tmp/baton-slip-canary-${process.pid}`)).toBe(false);
  }, 30_000);
});

test('S13: blueprints that grow, nest, loop or name types of programs end soon, with a clear error', async () => {
  const times = (count: number, make: (i: number) => string) =>
    Array.from({ length: count }, (_, i) => make(i)).join('');
  const bombs: Record<string, string> = {
    aliases: `${DSL}dsl_definitions:\n  a0: &a0 [x,x]\n${times(30, (i) => `  a${i + 1}: &a${i + 1} [${`*a${i},`.repeat(10)}]\n`)}`,
    depth: `${DSL}metadata: ${'['.repeat(100_000)}`,
    scalar: `${DSL}description: ${'x'.repeat(50 * MIB)}\n`,
    merges: `${DSL}dsl_definitions:\n  a: &a\n    <<: *a\n`,
    tags: `${DSL}inputs: {a: {default: !!js/function 'function () { process.exit() }'}}\n`,
    python: `${DSL}inputs: {a: {default: !!python/object/apply:os.system ['touch /tmp/baton-yaml']}}\n`,
    cycle: `${DSL}imports: [blueprint.yaml]\nnode_types: {a: {derived_from: b}, b: {derived_from: a}}\n`,
  };
  const wrong: string[] = [];
  for (const [name, text] of Object.entries(bombs)) {
    const { result, cpuS, grownMib } = await priceOf(() => yaml('bomb', text));
    const diagnostics = JSON.stringify(result.body);
    if (
      result.status !== 400 ||
      result.body.error_code !== 'invalid_blueprint_error' ||
      cpuS > 2.5 ||
      grownMib > 150
    )
      wrong.push(
        `${name}: ${result.status} in ${cpuS} s, ${Math.round(grownMib)} MiB: ${diagnostics.slice(0, 200)}`,
      );
  }
  expect(wrong).toEqual([]);
  expect(existsSync('/tmp/baton-yaml')).toBe(false);
}, 60_000);

describe('S14: addresses of the inside', () => {
  const hosts = () => [
    '127.0.0.1',
    'localhost',
    '[::1]',
    '0x7f.1',
    '2130706433',
    '0177.0.0.1',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '0.0.0.0',
    '127.1',
  ];
  const urls = (at: number): string[] => [
    ...hosts().map((host) => `http://${host}:${at}/x`),
    'http://169.254.169.254/latest/meta-data/',
    'http://10.0.0.1/',
    'http://192.168.0.1/',
    'http://[fe80::1]/',
    'http://[fd00::1]/',
    'file:///etc/passwd',
    `gopher://127.0.0.1:${at}/`,
    `http://8.8.8.8@127.0.0.1:${at}/`,
    `http://127.0.0.1:${at}#@8.8.8.8/`,
    'unix:/run/x.sock',
  ];
  const ways: [string, (url: string) => Promise<Answered>][] = [
    [
      'blueprint_archive_url',
      (url) => caller.send(alice, 'PUT', `/blueprints/ssrf?blueprint_archive_url=${encodeURIComponent(url)}`),
    ],
    [
      'plugin_archive_url',
      (url) => caller.send(alice, 'POST', `/plugins?plugin_archive_url=${encodeURIComponent(url)}`),
    ],
    [
      'snapshot_archive_url',
      (url) =>
        caller.send(
          caller.admin,
          'PUT',
          `/snapshots/ssrf/archive?snapshot_archive_url=${encodeURIComponent(url)}`,
        ),
    ],
    ['imports', (url) => yaml('ssrf', `${DSL}imports: ['${url}']\n`)],
  ];

  test.each(ways)(
    '%s: no connection, and the answer tells nothing of what listens',
    async (_name, ask) => {
      const told = new Set<string>();
      for (const at of [port, 1]) {
        for (const url of urls(at)) {
          const answer = await ask(url);
          expect([url, answer.status]).toEqual([url, 400]);
          expect(answer.text).not.toContain('secret of the inside');
          if (url.startsWith('http://127.0.0.1:') && !url.includes('#'))
            told.add(answer.text.replaceAll(`:${at}/`, ':PORT/'));
        }
      }
      expect(told.size).toBe(1);
      expect(hits).toBe(0);
    },
    60_000,
  );
});

test('S16: no path leads out of what is served', async () => {
  const outside = [
    '../../../../etc/passwd',
    '..%2f..%2f..%2fetc%2fpasswd',
    '%2e%2e%2f%2e%2e%2fetc%2fpasswd',
    '%252e%252e%252fetc%252fpasswd',
    '..%5c..%5cetc%5cpasswd',
    '%00',
    'x%00.yaml',
    '....//....//etc/passwd',
  ];
  const wrong: string[] = [];
  for (const way of outside) {
    for (const path of [
      `/${way}`,
      `/api/docs/${way}`,
      `/api/v3.1/${way}`,
      `/api/v3.1/blueprints/${way}`,
      `/api/v3.1/blueprints/${way}/archive`,
      `/api/v3.1/blueprints/warm/${way}`,
      `/api/v3.1/plugins/${way}/archive`,
      `/api/v3.1/snapshots/${way}/archive`,
      `/resources/${way}`,
      `/resources/blueprints/default_tenant/warm/${way}`,
      `/resources/blueprints/default_tenant/warm/x/${way}`,
      `/api/v3.1/resources/uploaded-blueprints/default_tenant/warm/${way}`,
    ]) {
      const { status, text } = await caller.raw(caller.admin, 'GET', path);
      if (![400, 404].includes(status) || text.includes('root:'))
        wrong.push(`${path}: ${status} ${text.slice(0, 100)}`);
    }
    const main = await caller.send(
      alice,
      'PUT',
      `/blueprints/out?application_file_name=${way}`,
      undefined,
      await tgzOf([{ name: 'bp/blueprint.yaml', content: PLAIN }]),
    );
    if (main.status !== 400) wrong.push(`application_file_name=${way}: ${main.status}`);
  }
  expect(wrong).toEqual([]);
});

describe('S18: functions and names of the language', () => {
  test('functions that double, or lie in one another, stop at a limit', async () => {
    const names = Array.from({ length: 45 }, (_, i) => `p${i}`);
    const before = (i: number) => `{get_property: [SELF, p${i - 1}]}`;
    const values = names.map(
      (name, i) => `      ${name}: ${i === 0 ? 'x' : `{concat: [${before(i)}, ${before(i)}]}`}\n`,
    );
    const doubling = `${DSL}node_types: {t: {properties: {${names.map((name) => `${name}: {}`).join(', ')}}}}
node_templates:
  n:
    type: t
    properties:
${values.join('')}`;
    expect((await yaml('doubling', doubling)).status).toBe(201);
    const made = await priceOf(() =>
      caller.send(alice, 'PUT', '/deployments/doubling', { blueprint_id: 'doubling' }),
    );
    expect([made.result.status, made.result.text]).toEqual([400, expect.stringMatching(/limit|too/)]);
    expect(made.cpuS).toBeLessThan(3);
    await caller.must(alice, 'PUT', '/deployments/plain', { blueprint_id: 'warm' });
    const nestedText = `${'{"concat":["x",'.repeat(5000)}"y"${']}'.repeat(5000)}`;
    const evaluated = await priceOf(() =>
      caller.send(
        alice,
        'POST',
        '/evaluate/functions',
        `{"deployment_id":"plain","context":{},"payload":{"deep":${nestedText}}}`,
      ),
    );
    expect(evaluated.result.status).toBe(400);
    expect(evaluated.cpuS).toBeLessThan(3);
  }, 30_000);

  test('names of the prototype in bodies change nothing', async () => {
    for (const name of ['__proto__', 'constructor', 'prototype']) {
      const evil = `{"${name}":{"polluted":"yes","prototype":{"polluted":"yes"}}`;
      for (const [method, path, body] of [
        ['PUT', '/deployments/polluted', `{"blueprint_id":"warm","inputs":${evil}}}`],
        ['PUT', '/secrets/polluted', `${evil},"value":"v"}`],
        ['PUT', '/sites/polluted', `${evil}}`],
        ['POST', '/evaluate/functions', `{"deployment_id":"plain","context":{},"payload":${evil}}}`],
        ['PUT', '/filters/deployments/polluted', `{"filter_rules":[],${evil.slice(1)}}`],
      ] as const) {
        const answer = await caller.send(alice, method, path, body);
        expect(answer.status).toBeLessThan(500);
      }
    }
    const after = await caller.must(alice, 'PUT', '/sites/clean', {});
    expect(JSON.stringify(after)).not.toContain('polluted');
    expect((await caller.must(caller.admin, 'GET', '/users/alice')).role).toBe('default');
  });
});

/** Repeats `ask` until it returns a value. */
async function until<T>(ask: () => Promise<T | null>): Promise<T> {
  return (await eventually(async () => (await ask()) ?? false, { deadlineMs: 25_000, everyMs: 100 })) as T;
}
