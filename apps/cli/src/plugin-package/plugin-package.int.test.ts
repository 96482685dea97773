// What an author does, outside of this repository: init, install, test, build. The SDK is the packed one.
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { parseBlueprint, withBuiltinTypes } from '@baton/dsl';
import { extract } from 'tar-stream';
import { runCli } from '../run';
import { quietIo } from '../testing-io';
import { TOOL_VERSIONS } from './template';

const root = resolve(__dirname, '../../../..');
const require = createRequire(__filename);
let outside: string;
let plugin: string;

const baton = async (...args: string[]) => {
  const { io, out, err } = quietIo();
  const code = await runCli(['node', 'baton', ...args], io);
  return { code, out: out(), err: err() };
};

/** Folders of packages that an author installs, as this repository has them. */
const INSTALLED: Record<keyof typeof TOOL_VERSIONS, string> = {
  '@types/node': join(root, 'node_modules/@types/node'),
  esbuild: dirname(require.resolve('esbuild/package.json')),
  typescript: join(root, 'node_modules/typescript'),
  zod: join(root, 'packages/plugin-sdk/node_modules/zod'),
};

beforeAll(async () => {
  outside = mkdtempSync(join(tmpdir(), 'baton-author-'));
  plugin = join(outside, 'notes');
  expect((await baton('plugins', 'init', plugin)).code).toBe(0);
  const pack = `import(${JSON.stringify(join(root, 'tools/pack/libraries.mjs'))}).then((m) => m.stageLibraries(process.argv[1]))`;
  const stage = join(outside, 'stage');
  execFileSync(process.execPath, ['-e', pack, stage], { cwd: root });
  const modules = join(plugin, 'node_modules');
  mkdirSync(join(modules, '@types'), { recursive: true });
  cpSync(join(stage, 'packages/plugin-sdk'), join(modules, '@baton/plugin-sdk'), { recursive: true });
  for (const [name, folder] of Object.entries(INSTALLED)) symlinkSync(folder, join(modules, name));
}, 240_000);
afterAll(() => rmSync(outside, { recursive: true, force: true }));

/** The entries of a package, in their order. */
async function entriesOf(archive: Buffer): Promise<{ name: string; mtime: number; text: string }[]> {
  const entries: { name: string; mtime: number; text: string }[] = [];
  const reading = extract();
  reading.end(gunzipSync(archive));
  for await (const entry of reading) {
    const pieces: Buffer[] = [];
    for await (const piece of entry) pieces.push(piece as Buffer);
    const { name, mtime } = entry.header;
    entries.push({ name, mtime: mtime!.getTime(), text: Buffer.concat(pieces).toString() });
  }
  return entries;
}

const write = (file: string, text: string): void => {
  mkdirSync(dirname(join(plugin, file)), { recursive: true });
  writeFileSync(join(plugin, file), text);
};

it('init takes the versions of tools that this repository uses', () => {
  const catalog = readFileSync(join(root, 'pnpm-workspace.yaml'), 'utf8');
  for (const [name, version] of Object.entries(TOOL_VERSIONS))
    expect(catalog).toMatch(new RegExp(`^ {2}'?${name}'?: ${version.replace(/[.^]/g, '\\$&')}$`, 'm'));
});

it('init refuses a folder with files, and a name that is none', async () => {
  expect(await baton('plugins', 'init', plugin)).toMatchObject({
    code: 1,
    err: expect.stringContaining('the folder is not empty'),
  });
  expect(await baton('plugins', 'init', join(outside, 'My Plugin'))).toMatchObject({
    code: 2,
    err: expect.stringContaining('small letters, digits and -'),
  });
});

it('the types of the new plugin fit, and its own tests pass', () => {
  const bin = (name: string, file: string): string => join(plugin, 'node_modules', name, file);
  const run = (...args: string[]): string =>
    execFileSync(process.execPath, args, { cwd: plugin, encoding: 'utf8', env: {} });
  run(bin('typescript', 'bin/tsc'), '--skipLibCheck', 'false');
  const { scripts } = JSON.parse(readFileSync(join(plugin, 'package.json'), 'utf8'));
  const [, bundle] = /&& esbuild (.*?) &&/.exec(scripts.test)!;
  execFileSync(bin('esbuild', 'bin/esbuild'), bundle!.split(' '), { cwd: plugin });
  expect(run('--test', '.build/plugin.test.cjs')).toMatch(/# pass 3\n/);
}, 240_000);

it('build writes the package, the same bytes each time', async () => {
  write('files/note.tmpl', 'a template');
  const first = await baton('plugins', 'build', plugin, '--json');
  expect(first).toMatchObject({ code: 0, err: '' });
  const file = join(plugin, 'dist/notes-0.1.0.bplug');
  expect(JSON.parse(first.out)).toMatchObject({
    file,
    name: 'notes',
    version: '0.1.0',
    types: ['notes.nodes.Note'],
  });
  const archive = readFileSync(file);
  await baton('plugins', 'build', plugin, '--out', join(outside, 'again.bplug'));
  expect(readFileSync(join(outside, 'again.bplug')).equals(archive)).toBe(true);

  const entries = await entriesOf(archive);
  expect(entries.map(({ name }) => name)).toEqual([
    'LICENSES.txt',
    'files/note.tmpl',
    'index.js',
    'plugin.json',
    'plugin.yaml',
  ]);
  expect(entries.every(({ mtime }) => mtime === 0)).toBe(true);
  const textOf = (name: string) => entries.find((entry) => entry.name === name)!.text;
  expect(JSON.parse(textOf('plugin.json'))).toEqual({
    format: 1,
    name: 'notes',
    version: '0.1.0',
    sdk: expect.stringMatching(/^\d+\.\d+\.\d+$/),
    main: 'index.js',
    types: ['notes.nodes.Note'],
    secrets: [],
    description: 'Notes',
  });
  expect(textOf('LICENSES.txt')).toBe('@baton/plugin-sdk 0.2.0: Apache-2.0\nzod 4.6.7: MIT\n');
  expect(textOf('plugin.yaml')).toMatch(
    /^ {2}notes\.nodes\.Note:\n {4}# A note\n {4}derived_from: cloudify\.nodes\.Root$/m,
  );
  expect(textOf('index.js')).not.toContain(outside);
});

it('the package runs without anything else, and its example is a valid blueprint', async () => {
  const entries = await entriesOf(readFileSync(join(plugin, 'dist/notes-0.1.0.bplug')));
  const textOf = (name: string) => entries.find((entry) => entry.name === name)!.text;
  const alone = mkdtempSync(join(outside, 'alone-'));
  writeFileSync(join(alone, 'index.js'), textOf('index.js'));
  const exported = require(join(alone, 'index.js')).default;
  expect(exported).toMatchObject({ name: 'notes', version: '0.1.0' });
  expect(Object.keys(exported.operations)).toContain('notes.nodes.Note.check_drift');
  const { plan, diagnostics } = await parseBlueprint({
    text: readFileSync(join(plugin, 'example/blueprint.yaml'), 'utf8'),
    location: '/bp/blueprint.yaml',
    resolver: withBuiltinTypes({
      read: async () => null,
      plugin: async () => ({ text: textOf('plugin.yaml') }),
    }),
  });
  expect(diagnostics).toEqual([]);
  expect(plan!.nodes[0]!.type).toBe('notes.nodes.Note');
  const checked = await baton(
    'blueprints',
    'validate',
    join(plugin, 'example/blueprint.yaml'),
    '--plugins',
    join(plugin, 'dist'),
  );
  expect(checked).toMatchObject({ code: 0, out: expect.stringContaining('1 valid, 0 invalid') });
});

it('docs writes a page and a schema, with the zod of the author', async () => {
  const { code, out } = await baton('plugins', 'docs', plugin, '--out', join(outside, 'docs'));
  expect([code, out]).toEqual([0, expect.stringContaining('notes.schema.json are written')]);
  const page = readFileSync(join(outside, 'docs/notes.md'), 'utf8');
  expect(page).toMatch(/^# notes 0\.1\.0\n[\s\S]*\n## notes\.nodes\.Note\n\nA note\n/);
  const { $defs } = JSON.parse(readFileSync(join(outside, 'docs/notes.schema.json'), 'utf8'));
  expect(Object.keys($defs)).toEqual([
    'notes.nodes.Note',
    'notes.nodes.Note.runtime',
    'notes.nodes.Note.shout.inputs',
  ]);
});

it('a plugin that finds a program takes the entry for it along', async () => {
  write('src/finds.ts', "export { tool } from '@baton/plugin-sdk/tool';\n");
  const contents = `import { tool } from './finds'; console.log(typeof tool);`;
  const { build } = require(INSTALLED.esbuild);
  const outfile = join(outside, 'finds.cjs');
  await build({
    stdin: { resolveDir: join(plugin, 'src'), contents },
    bundle: true,
    outfile,
    platform: 'node',
  });
  expect(execFileSync(process.execPath, [outfile], { encoding: 'utf8' })).toBe('function\n');
  rmSync(join(plugin, 'src/finds.ts'));
});

describe('build refuses', () => {
  const source = () => readFileSync(join(plugin, 'src/plugin.ts'), 'utf8');
  let kept: string;
  beforeEach(() => {
    kept = source();
  });
  afterEach(() => writeFileSync(join(plugin, 'src/plugin.ts'), kept));
  const refusal = async () => {
    const { code, err } = await baton('plugins', 'build', plugin);
    expect(code).toBe(1);
    return err;
  };

  it('a mistake in the definition, with its path', async () => {
    write('src/plugin.ts', kept.replace("compare: ['text']", "compare: ['txt']"));
    expect(await refusal()).toContain(
      'plugin.types.notes.nodes.Note.compare: there is no txt; expected text; did you mean text?',
    );
  });

  it('a mistake in the code, with file, line and column', async () => {
    write('src/plugin.ts', `${kept}\nimport 'no-such-package';`);
    expect(await refusal()).toMatch(/src\/plugin\.ts:\d+:\d+: Could not resolve "no-such-package"/);
  });

  it('a native addon, in code and in files, by its path', async () => {
    write('native/a.node', 'ELF');
    write('src/plugin.ts', `import '../native/a.node';\n${kept}`);
    expect(await refusal()).toContain('native/a.node is a native addon');
    write('src/plugin.ts', kept);
    write('files/b.node', 'ELF');
    expect(await refusal()).toContain('files/b.node is a native addon');
    rmSync(join(plugin, 'files/b.node'));
  });

  it('a link among the files: it may lead to a file of this machine', async () => {
    symlinkSync('/etc/passwd', join(plugin, 'files/link'));
    expect(await refusal()).toContain('only files and folders can be packed');
    rmSync(join(plugin, 'files/link'));
  });

  it('another version than package.json says', async () => {
    write(
      'src/plugin.ts',
      kept.replace('name, version, description,', "name, version: '9.0.0', description,"),
    );
    expect(await refusal()).toContain('version is 0.1.0, but definePlugin says 9.0.0');
  });

  it('an export that is no plugin', async () => {
    write('src/plugin.ts', 'export default 1;');
    expect(await refusal()).toContain('the default export declares no types');
  });

  it('a folder that is none', async () => {
    expect(await baton('plugins', 'build', join(outside, 'nowhere'))).toMatchObject({
      code: 1,
      err: expect.stringContaining('package.json: there is no such file'),
    });
  });
});

it('a plugin that is loaded for the build sees nothing of the environment', async () => {
  const kept = readFileSync(join(plugin, 'src/plugin.ts'), 'utf8');
  write(
    'src/plugin.ts',
    `if (Object.keys(process.env).length > 0) throw new Error('saw ' + Object.keys(process.env));\n${kept}`,
  );
  try {
    expect(await baton('plugins', 'build', plugin)).toMatchObject({ code: 0, err: '' });
  } finally {
    writeFileSync(join(plugin, 'src/plugin.ts'), kept);
  }
});

describe('build --against', () => {
  const schema = (from: string, to: string): string =>
    readFileSync(join(plugin, 'src/plugin.ts'), 'utf8').replace(from, to);
  let kept: string;
  beforeEach(() => {
    kept = readFileSync(join(plugin, 'src/plugin.ts'), 'utf8');
  });
  afterEach(() => writeFileSync(join(plugin, 'src/plugin.ts'), kept));
  const published = () => join(outside, 'published.bplug');
  const build = () => baton('plugins', 'build', plugin, '--against', published());

  it('names the properties that have changed in the same version; another version may change them', async () => {
    expect((await baton('plugins', 'build', plugin, '--out', published())).code).toBe(0);
    write(
      'src/plugin.ts',
      schema("default('Hello')", "default('Bye')").replace('times: z.int()', 'often: z.int()'),
    );
    const { code, err } = await build();
    expect(code).toBe(1);
    expect(err).toContain('notes 0.1.0 is published already');
    expect(err).toContain('node_types.notes.nodes.Note.properties.text.default was "Hello", is "Bye"');
    expect(err).toMatch(/interfaces\.notes\.shout\.inputs\.often is new\n.*inputs\.times is gone/);
    const manifest = readFileSync(join(plugin, 'package.json'), 'utf8');
    try {
      write('package.json', manifest.replace('"0.1.0"', '"0.2.0"'));
      expect(await build()).toMatchObject({ code: 0, err: '' });
    } finally {
      write('package.json', manifest);
    }
  });

  it('lets texts and code change', async () => {
    write('src/plugin.ts', schema('Text of the note', 'The text').replace('wrote the note', 'made the note'));
    expect(await build()).toMatchObject({ code: 0, err: '' });
  });

  it('refuses what is no package of the plugin', async () => {
    expect(await baton('plugins', 'build', plugin, '--against', join(outside, 'none'))).toMatchObject({
      code: 1,
    });
    writeFileSync(join(outside, 'odd.bplug'), 'no package');
    expect((await baton('plugins', 'build', plugin, '--against', join(outside, 'odd.bplug'))).err).toContain(
      'the package cannot be read',
    );
  });
});

describe('build --sign', () => {
  const key = () => join(outside, 'team.key');

  it('signs the same bytes each time with a key that keygen has made, which it never replaces', async () => {
    const made = await baton('plugins', 'keygen', key(), '--json');
    expect(JSON.parse(made.out)).toMatchObject({ fingerprint: expect.stringMatching(/^SHA256:[\w+/]{43}$/) });
    expect(statSync(key()).mode & 0o777).toBe(0o600);
    expect((await baton('plugins', 'keygen', key())).err).toContain('a key is not replaced');
    const archives = [];
    for (const name of ['a.bplug', 'b.bplug']) {
      const { out } = await baton(
        'plugins',
        'build',
        plugin,
        '--sign',
        key(),
        '--out',
        join(outside, name),
        '--json',
      );
      expect(JSON.parse(out).signed_by).toBe(JSON.parse(made.out).fingerprint);
      archives.push(readFileSync(join(outside, name)));
    }
    expect(archives[0]!.equals(archives[1]!)).toBe(true);
    const { text } = (await entriesOf(archives[0]!)).find(
      ({ name }) => name === 'files/baton-signature.json',
    )!;
    expect(text).not.toContain('PRIVATE');
  });

  it.each([
    ['that is missing', () => join(outside, 'nothing.key'), 'there is no such file'],
    ['that is the public one', () => `${key()}.pub`, 'it is no private key'],
  ])('refuses a key %s', async (_, file, text) => {
    const { code, err } = await baton('plugins', 'build', plugin, '--sign', file());
    expect([code, err]).toEqual([1, expect.stringContaining(text)]);
  });
});
