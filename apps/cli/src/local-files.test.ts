// What commands do with files of this machine.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { sinceText } from './commands/schedules';
import { saveDownload } from './download';
import { printer } from './output';
import { writeProfiles } from './profile-store';
import { progress } from './progress';
import { runCli } from './run';
import { quietIo } from './testing-io';
import { idFromPath } from './upload';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-cli-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

test.each([
  ['shop.tar.gz', 'shop'],
  ['/tmp/shop.zip', 'shop'],
  ['/tmp/shop/blueprint.yaml', 'shop'],
  ['/tmp/shop/web.yaml', 'web'],
  ['/tmp/shop-1.2', 'shop-1.2'],
  ['https://example.org/files/shop.zip?token=x', 'shop'],
])('the id for %s is %s', (path, id) => expect(idFromPath(path)).toBe(id));

test('now is the next second but one', () => {
  expect(sinceText('now', Date.UTC(2026, 10, 26, 20, 14, 5, 300))).toBe('2026-11-26 20:14:07');
  expect(sinceText('2026-12-01 06:00:00', 0)).toBe('2026-12-01 06:00:00');
  expect(sinceText(undefined, 0)).toBeUndefined();
});

test('the name that a server proposes for a download does not choose a folder', async () => {
  const { io } = quietIo();
  const before = process.cwd();
  process.chdir(folder);
  try {
    const download = { filename: '../../evil.zip', length: null, contentType: '' };
    const body = new Blob(['archive']).stream();
    await saveDownload(
      { io, out: printer({ format: 'table', write: io.out }) },
      { ...download, body },
      undefined,
      'x.zip',
    );
    expect(readFileSync(join(folder, 'evil.zip'), 'utf8')).toBe('archive');
  } finally {
    process.chdir(before);
  }
});

test('a proposed name replaces no file and is never hidden', async () => {
  const { io } = quietIo();
  const out = printer({ format: 'table', write: io.out });
  const download = (filename: string) => ({
    filename,
    length: null,
    contentType: '',
    body: new Blob(['new']).stream(),
  });
  writeFileSync(join(folder, 'kept'), 'old');
  const before = process.cwd();
  process.chdir(folder);
  try {
    await expect(saveDownload({ io, out }, download('kept'), undefined, 'x')).rejects.toThrow(
      'kept is there already',
    );
    await saveDownload({ io, out }, download('.profile'), undefined, 'plain');
  } finally {
    process.chdir(before);
  }
  expect(readFileSync(join(folder, 'kept'), 'utf8')).toBe('old');
  expect(readFileSync(join(folder, 'plain'), 'utf8')).toBe('new');
});

test('progress is shown on a terminal only, and taken away at the end', async () => {
  const shown = async (isErrTerminal: boolean): Promise<string> => {
    const quiet = quietIo({}, '', { isErrTerminal });
    await pipeline(
      Readable.from([Buffer.alloc(1_048_576)]),
      progress(quiet.io, 'uploaded', 2_097_152),
      new PassThrough().resume(),
    );
    expect(quiet.out()).toBe('');
    return quiet.err();
  };
  expect(await shown(false)).toBe('');
  const text = await shown(true);
  expect(text).toContain('1.0 of 2.0 (50 %) MB uploaded');
  expect(text.endsWith('\r\u001b[K')).toBe(true);
});

test('profiles are replaced as a whole, for their owner only', () => {
  const file = join(folder, 'profiles.json');
  writeFileSync(file, '{}', { mode: 0o644 });
  writeProfiles(file, { current: null, profiles: {} });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(['profiles.json']);
});

const BLUEPRINT = `tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml, 'plugin:paint?version=>=1.1']
node_templates:
  wall: {type: paint.Wall}
`;
const pluginYaml = (version: string) => `plugins:
  paint: {executor: central_deployment_agent, package_name: paint, package_version: '${version}'}
node_types:
  ${version === '1.0' ? 'paint.Old' : 'paint.Wall'}: {derived_from: cloudify.nodes.Root}
`;

async function validate(...more: string[]): Promise<{ code: number; text: string }> {
  const quiet = quietIo();
  const code = await runCli(
    ['node', 'baton', 'blueprints', 'validate', join(folder, 'shop'), ...more],
    quiet.io,
  );
  return { code, text: quiet.out() + quiet.err() };
}

function tarOf(name: string, text: string): Promise<Buffer> {
  return new Promise((resolve) => {
    const archive = pack();
    const pieces: Buffer[] = [];
    archive.on('data', (piece) => pieces.push(piece as Buffer));
    archive.on('end', () => resolve(gzipSync(Buffer.concat(pieces))));
    archive.entry({ name }, text);
    archive.finalize();
  });
}

describe('validate --plugins', () => {
  beforeEach(() => {
    mkdirSync(join(folder, 'shop'));
    mkdirSync(join(folder, 'plugins/old'), { recursive: true });
    writeFileSync(join(folder, 'shop/blueprint.yaml'), BLUEPRINT);
    writeFileSync(join(folder, 'plugins/old/plugin.yaml'), pluginYaml('1.0'));
  });

  test('a version that is not there is told with those that are', async () => {
    const { code, text } = await validate('--plugins', join(folder, 'plugins'));
    expect([code, text]).toEqual([1, expect.stringContaining('installed is 1.0')]);
  });

  test('the highest version that fits is found, in a file or in a wagon', async () => {
    writeFileSync(join(folder, 'plugins/paint.wgn'), await tarOf('paint/plugin.yaml', pluginYaml('1.2')));
    const { code, text } = await validate('--plugins', join(folder, 'plugins'));
    expect([code, text]).toEqual([0, expect.stringContaining('1 valid, 0 invalid')]);
  });

  test('blueprints of the older language get the plugin without what is new, as from the manager', async () => {
    const rules =
      'workflows: {paint: {mapping: paint.all, availability_rules: {node_instances_active: [all]}}}';
    writeFileSync(join(folder, 'plugins/old/plugin.yaml'), `${pluginYaml('1.2')}${rules}\n`);
    writeFileSync(
      join(folder, 'shop/blueprint.yaml'),
      BLUEPRINT.replace(/cloudify_dsl_1_\d/, 'cloudify_dsl_1_3'),
    );
    const { code, text } = await validate('--plugins', join(folder, 'plugins'));
    expect([code, text]).toEqual([0, expect.stringContaining('1 valid, 0 invalid')]);
  });

  test('an archive that is damaged is named', async () => {
    writeFileSync(join(folder, 'plugins/broken.zip'), 'PK but no zip');
    const { code, text } = await validate('--plugins', join(folder, 'plugins'));
    expect([code, text]).toEqual([1, expect.stringContaining('broken.zip: the archive cannot be read')]);
  });

  test('without a folder the plugin is not there', async () => {
    expect((await validate()).code).toBe(1);
  });
});
