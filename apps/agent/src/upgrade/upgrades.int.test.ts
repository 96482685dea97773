import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Notice } from '@baton/agent-link';
import { silentLog, systemClock } from '@baton/kernel';
import { eventually } from '@baton/testkit/eventually';
import { agentPlatform } from '../run/about';
import { type AgentRig, createAgentRig } from '../testing/agent-rig';
import { createUpgrades, type UpgradesDeps } from './upgrades';
import { PROGRAM, readUpgrade, writeUpgrade } from './versions';

type Wanted = Extract<Notice, { notice: 'upgrade' }>['package'];
let rig: AgentRig;

beforeEach(async () => {
  rig = await createAgentRig();
  place('1.0.0', '#!/bin/sh\nexit 0\n');
  symlinkSync('versions/1.0.0', rig.places.current);
});
afterEach(() => rig.close());

function place(version: string, text: string): void {
  mkdirSync(join(rig.places.versions, version), { recursive: true });
  writeFileSync(join(rig.places.versions, version, PROGRAM), text, { mode: 0o755 });
}

function offer(text: string, version = '2.0.0'): Wanted {
  const data = gzipSync(text);
  rig.gateway.packages.push({ platform: agentPlatform, version, data });
  return {
    platform: agentPlatform,
    version,
    sha256: createHash('sha256').update(data).digest('hex'),
    size: data.length,
  };
}

const upgrades = (more: Partial<UpgradesDeps> = {}) =>
  createUpgrades({
    places: rig.places,
    config: rig.config,
    clock: systemClock,
    log: silentLog,
    version: '1.0.0',
    ...more,
  });
const state = () => readUpgrade(rig.places);
const current = (): string => readlinkSync(rig.places.current);

test('a new version is downloaded, tested, and switched to when the running operation has ended', async () => {
  const gate = join(rig.places.dir, 'gate');
  const task = rig.engine.script(`#!/bin/bash\nwhile [ ! -e ${gate} ]; do sleep 0.05; done\n`);
  const agent = await rig.start();
  await eventually(async () => expect(agent.held()).toBe(1));
  const made = upgrades();
  made.ordered(offer(`#!/bin/sh\necho "$@" > ${rig.places.dir}/asked\n`), agent);
  await eventually(async () => expect(agent.status().isDraining).toBe(true));
  const later = rig.engine.script('#!/bin/sh\n:\n');
  rig.gateway.notify({ notice: 'task-ready', executionId: later.executionId, taskId: later.id });
  expect(current()).toBe('versions/1.0.0');
  writeFileSync(gate, '');
  expect(await made.wantsRestart).toBe(75);
  expect(task.outcomes).toHaveLength(1);
  expect(later.state).toBe('ready');
  expect(current()).toBe('versions/2.0.0');
  expect(state()).toMatchObject({ version: '2.0.0', state: 'running', from: '1.0.0' });
});

test('a download goes on where it was cut off', async () => {
  const agent = await rig.start();
  const wanted = offer(`#!/bin/sh\n${Array.from({ length: 50 }, () => `# ${randomUUID()}\n`).join('')}`);
  const half = rig.gateway.packages[0]!.data.subarray(0, 40);
  writeFileSync(join(rig.places.versions, `.2.0.0-${wanted.sha256.slice(0, 16)}.part`), half);
  const made = upgrades();
  made.ordered(wanted, agent);
  expect(await made.wantsRestart).toBe(75);
  expect(rig.gateway.ranges).toEqual(['bytes=40-']);
});

test.each([
  [
    'fails its self-test',
    '#!/bin/sh\necho "no such library" >&2\nexit 6\n',
    {},
    'its self-test fails: no such library',
  ],
  ['is not the one that was ordered', '#!/bin/sh\n', { sha256: '0'.repeat(64) }, 'expected 0000'],
  ['is for another processor', '#!/bin/sh\n', { platform: 'linux-other' }, 'this host is'],
  ['has a name that leads elsewhere', '#!/bin/sh\n', { version: '../../x' }, 'is no version'],
])('a package that %s changes nothing, and the agent claims on', async (_what, text, change, reason) => {
  const agent = await rig.start();
  const made = upgrades();
  made.ordered({ ...offer(text), ...change }, agent);
  await eventually(async () => expect(state()?.state).toBe('undone'));
  expect(state()!.reason).toContain(reason);
  expect(current()).toBe('versions/1.0.0');
  await eventually(async () => expect(agent.status().isDraining).toBe(false));
  expect(made.state()).toMatchObject({ state: 'undone', reason: expect.stringContaining(reason) });
});

describe('a new version on trial', () => {
  beforeEach(() => {
    place('2.0.0', '#!/bin/sh\n');
    place('0.9.0', '#!/bin/sh\n');
    writeUpgrade(rig.places, { version: '2.0.0', state: 'running', reason: '', from: '1.0.0', starts: 0 });
  });

  test('passes with its first stream; older versions are removed', () => {
    const made = upgrades({ version: '2.0.0', trialMs: 60_000 });
    expect(made.state()?.state).toBe('running');
    made.connected();
    expect(made.state()?.state).toBe('done');
    expect(readdirSync(rig.places.versions).sort()).toEqual(['1.0.0', '2.0.0']);
  });

  test('is undone without a stream', async () => {
    const made = upgrades({ version: '2.0.0', trialMs: 30 });
    expect(await made.wantsRestart).toBe(75);
    expect(current()).toBe('versions/1.0.0');
    expect(state()).toMatchObject({ state: 'undone', reason: expect.stringContaining('no stream') });
  });

  test('is undone when it ends again and again', async () => {
    for (let i = 0; i < 3; i++) upgrades({ version: '2.0.0', trialMs: 600_000 }).stop();
    expect(await upgrades({ version: '2.0.0' }).wantsRestart).toBe(75);
    expect(state()).toMatchObject({ state: 'undone', reason: expect.stringContaining('3 times') });
  });
});
