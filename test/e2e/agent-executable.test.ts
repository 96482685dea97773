/** The executable file of the agent as a host has it: enrolled, with scripts, Python and TypeScript plugins, and small enough. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { createEngineDouble, type DoubleTask, type EngineDouble } from '@baton/agent/testing';
import { type GatewayDouble, startGatewayDouble } from '@baton/agent-link/testing';
import { eventually } from '@baton/testkit/eventually';
import { pack } from 'tar-stream';

const root = join(__dirname, '../..');
const built = join(root, 'dist/agent', `${process.platform}-${process.arch}`, 'baton-agent');
/** Bar of reference/agents.md for the memory of an idle agent, with room for the pages of the file that a busy machine keeps. */
const MOST_PRIVATE_KB = 45_000;

let dir: string;
let engine: EngineDouble;
let gateway: GatewayDouble;
let program: string;
let agent: ChildProcess;

beforeAll(async () => {
  if (!existsSync(built)) execFileSync(process.execPath, [join(root, 'tools/build-agent.mjs')]);
  engine = createEngineDouble();
  gateway = await startGatewayDouble(engine.handlers);
  dir = mkdtempSync(join(tmpdir(), 'baton-executable-'));
  mkdirSync(join(dir, 'versions/v'), { recursive: true });
  copyFileSync(built, join(dir, 'versions/v/baton-agent'));
  symlinkSync('versions/v', join(dir, 'current'));
  program = join(dir, 'current/baton-agent');
  writeFileSync(
    join(dir, 'agent.json'),
    JSON.stringify({
      name: 'vm_1',
      tenant: 'default_tenant',
      nodeInstanceId: 'vm_1',
      addresses: [gateway.address],
      authorities: gateway.authority.cert,
      noProxy: '*',
      processManagement: 'detach',
    }),
  );
  gateway.tokens.add('token');
  writeFileSync(join(dir, 'token'), 'token\n');
  await command('enrol', '--config', join(dir, 'agent.json'), '--token-file', join(dir, 'token'));
  agent = spawn(program, ['supervise', '--config', join(dir, 'agent.json')], { stdio: 'inherit' });
  await eventually(async () => expect(gateway.hellos).toHaveLength(1));
}, 120_000);

afterAll(async () => {
  const gone = new Promise((resolve) => agent.once('exit', resolve));
  agent.kill('SIGTERM');
  expect(await gone).toBe(0);
  await gateway.close();
  rmSync(dir, { recursive: true, force: true });
});

/** Runs a command beside the double, which answers in this process. */
function command(...args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let text = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (part) => {
        text += String(part);
      });
    child.once('close', (code) =>
      code === 0 ? resolve(text) : reject(new Error(`${args[0]}: ${code}: ${text}`)),
    );
  });
}

async function run(task: DoubleTask): Promise<DoubleTask['outcomes'][number]> {
  gateway.notify({ notice: 'task-ready', executionId: task.executionId, taskId: task.id });
  return await eventually(async () => {
    const [outcome] = task.outcomes;
    if (!outcome) throw new Error('no outcome yet');
    return outcome;
  });
}

const messages = (): string[] => engine.events.map(({ message }) => message);

test('says what it is, and that it is fit', async () => {
  expect((await command('version')).trim()).toBe(
    (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version,
  );
  expect(JSON.parse(await command('check', '--dir', dir))).toMatchObject({ isFit: true });
  const status = JSON.parse(await command('status', '--dir', dir)) as Record<string, unknown>;
  expect(status).toMatchObject({ isConnected: true, name: 'vm_1' });
});

test('keeps its memory small', async () => {
  const { pid } = JSON.parse(await command('status', '--dir', dir)) as { pid: number };
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  expect(Number(/^Private_Dirty:\s+(\d+)/m.exec(text)![1])).toBeLessThan(MOST_PRIVATE_KB);
});

test('runs scripts of shells and of Python', async () => {
  const shell = await run(engine.script('#!/bin/bash\necho "I am $AGENT_NAME"\nctx returns value\n'));
  expect(shell).toMatchObject({ kind: 1, resultJson: '"value"' });
  expect(messages()).toContain('<out> I am vm_1');
  engine.files['bp/x.py'] = 'from cloudify import ctx\nctx.instance.runtime_properties["from"] = "python"\n';
  expect(await run(engine.add({ script_path: 'x.py' }))).toMatchObject({ kind: 1 });
  expect(engine.properties).toEqual({ from: 'python' });
});

test('runs operations of a TypeScript plugin in a process of its own', async () => {
  engine.plugin = await archiveOf({
    'plugin.json': '{"secrets":[]}',
    'index.js': `module.exports.default = { name: 'mine', version: '1.0.0', secrets: [], workflows: {}, operations: {
      'mine.where': async (ctx) => ({ pid: process.pid, argv: process.argv.length, options: process.env.NODE_OPTIONS ?? null,
        loaded: typeof (await import('node:fs')).readFileSync }) } };`,
  });
  const outcome = await run(
    engine.add(
      {},
      {
        mapping: 'mine.where',
        plugin: { name: 'mine', packageName: 'mine', packageVersion: '1.0.0', source: null, properties: {} },
      },
    ),
  );
  expect([outcome.kind, outcome.errorJson]).toEqual([1, '']);
  const told = JSON.parse(outcome.resultJson) as { pid: number; options: null; loaded: string };
  expect(told).toMatchObject({ options: null, loaded: 'function' });
  expect(told.pid).not.toBe(agent.pid);
});

test('asked for a secret, it says what to do instead', async () => {
  engine.plugin = await archiveOf({
    'plugin.json': '{"secrets":["token"]}',
    'index.js': `module.exports.default = { name: 'mine', version: '1.0.0', secrets: ['token'], workflows: {}, operations: {
      'mine.secret': async (ctx) => await ctx.secret('token') } };`,
  });
  const outcome = await run(
    engine.add(
      {},
      {
        blueprintId: 'bp2',
        mapping: 'mine.secret',
        plugin: { name: 'mine', packageName: 'mine', packageVersion: '1.0.0', source: null, properties: {} },
      },
    ),
  );
  expect(outcome.kind).toBe(3);
  expect(outcome.errorJson).toContain('which a host does not get');
});

test('ctx is in the file itself', () => {
  const { status, stderr } = spawnSync(program, ['ctx', 'instance', 'id'], { encoding: 'utf8', env: {} });
  expect([status, stderr]).toEqual([1, expect.stringContaining('CTX_SOCKET_URL is not set')]);
});

async function archiveOf(files: Record<string, string>): Promise<Buffer> {
  const tar = pack();
  for (const [name, content] of Object.entries(files)) tar.entry({ name }, content);
  tar.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of tar as unknown as AsyncIterable<Buffer>) chunks.push(chunk);
  return gzipSync(Buffer.concat(chunks));
}
