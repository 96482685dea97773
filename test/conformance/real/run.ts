import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Client } from '@baton/client';
import type { ParsedPlan } from '@baton/dsl';
import { eventually } from '@baton/testkit/eventually';
import { blueprintTgz, tgzOf, zipOf } from '../../../services/catalog/src/testing/archives';
import { type Fleet, startFleet } from '../../harness/fleet';
import { root } from '../../harness/processes';
import { adminClient, call, route } from '../../harness/session';
import { type RealCase, textOf, unlikeRecorded } from '../dsl/real-case';

/**
 * Uploads blueprints that people published, and the plugins that they import, to an empty manager (BATON_WIRE=cloudify), and compares
 * the stored plans with the recorded ones. `--only TEXT`: cases whose id contains the text. Lists failures and ends with `N passed,
 * M failed`.
 */
const folder = resolve(process.env.BATON_SHARED ?? join(root, '../shared'), 'conformance/real');
const ENDED = /^(uploaded|invalid|failed_.*)$/;
/** Folder of every recorded blueprint. */
const BASE = '/bp/';

function cases(only: string | undefined): RealCase[] {
  const file = join(folder, 'real.jsonl');
  if (!existsSync(file)) throw new Error(`no such file: ${file}`);
  const lines = readFileSync(file, 'utf8').split('\n');
  const all = lines.filter((line) => line.trim() !== '').map((line) => JSON.parse(line) as RealCase);
  return all.filter(({ id }) => only === undefined || id.includes(only));
}

/** Uploads a plugin that has the yaml of the recording and an empty wagon: nothing of it runs. */
async function uploadPlugin(client: Client, yaml: string): Promise<void> {
  const field = (name: string): string =>
    new RegExp(`^\\s+${name}:\\s*['"]?([\\w.-]+)`, 'm').exec(yaml)?.[1] ?? '';
  const [name, version] = [field('package_name'), field('package_version')];
  const about = {
    package_name: name,
    package_version: version,
    archive_name: `${name}-${version}.wgn`,
    package_source: `${name}==${version}`,
    wheels: ['none.whl'],
    supported_platform: 'any',
    supported_python_versions: ['py311'],
  };
  const wagon = await tgzOf([
    { name: `${name}/package.json`, content: JSON.stringify(about) },
    { name: `${name}/wheels/none.whl`, content: '' },
  ]);
  const content = zipOf([
    { name: 'plugin.yaml', content: yaml },
    { name: 'plugin.wgn', content: wagon },
  ]);
  await client.upload(route('uploadPlugin'), { content } as never);
}

/** Returns the archive: the files beside the blueprint, those that are imported with their text. */
function archiveOf(c: RealCase): Promise<Buffer> {
  const inside = c.files.filter((file) => !file.startsWith('/') || file.startsWith(BASE));
  const texts = Object.entries(c.reads)
    .filter(([url, text]) => url.startsWith(`file:${BASE}`) && text?.startsWith('$builtin:') === false)
    .map(([url, text]) => [url.slice(`file:${BASE}`.length), textOf(text, folder) ?? '']);
  return blueprintTgz({
    ...Object.fromEntries(inside.map((file) => [file.replace(BASE, ''), ''])),
    ...Object.fromEntries(texts),
    [c.location.slice(BASE.length)]: c.dsl,
  });
}

/** Uploads the blueprint of a case; null when it becomes the recorded plan. */
async function play(client: Client, c: RealCase, id: string): Promise<string | null> {
  await client.upload(route('uploadBlueprint'), {
    params: { blueprint_id: id },
    query: { application_file_name: c.location.slice(BASE.length) },
    content: await archiveOf(c),
  } as never);
  const stored = await eventually(
    async () => {
      const found = await call(client, 'getBlueprint', { blueprint_id: id });
      if (!ENDED.test(found.state)) throw new Error(`${c.id} is ${found.state}`);
      return found;
    },
    { deadlineMs: 30_000 },
  );
  if (stored.state !== 'uploaded') return `${stored.state}: ${stored.error}`;
  return unlikeRecorded(stored.plan as ParsedPlan, c);
}

async function playAll(fleet: Fleet, all: readonly RealCase[]): Promise<number> {
  const client = adminClient(fleet);
  const plugins = new Map<string, string>();
  for (const { reads } of all)
    for (const [url, text] of Object.entries(reads))
      if (url.startsWith('plugin:') && text) plugins.set(text, textOf(text, folder)!);
  for (const yaml of plugins.values()) await uploadPlugin(client, yaml);
  let failed = 0;
  for (const [i, one] of all.entries()) {
    const problem = await play(client, one, `real-${i}`).catch((error: Error) => error.message);
    if (problem === null) continue;
    failed += 1;
    process.stdout.write(`FAIL ${one.id}\n     ${problem}\n`);
  }
  process.stdout.write(`${all.length - failed} passed, ${failed} failed\n`);
  return failed;
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { only: { type: 'string' } } });
  const all = cases(values.only);
  const fleet = await startFleet({ mode: 'standalone', env: { BATON_WIRE: 'cloudify' } });
  try {
    process.exitCode = (await playAll(fleet, all)) === 0 ? 0 : 1;
  } finally {
    await fleet.stop();
  }
}

main().catch((error: Error) => {
  process.stdout.write(`${error.message}\n0 passed, 1 failed\n`);
  process.exitCode = 1;
});
