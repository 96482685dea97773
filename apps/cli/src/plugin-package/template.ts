/** The files that `baton plugins init` writes. NAME stands for the name of the plugin, SDK for the version of the SDK. */

/** Versions of the author's tools; a test holds them against those of this repository. */
export const TOOL_VERSIONS = {
  '@types/node': '^20.19.0',
  esbuild: '0.28.2',
  typescript: '5.9.3',
  zod: '4.6.7',
} as const;

const PACKAGE = {
  name: 'NAME',
  version: '0.1.0',
  private: true,
  description: 'Notes in files',
  scripts: {
    build: 'baton plugins build',
    test: 'tsc && esbuild test/plugin.test.ts --bundle --platform=node --outfile=.build/plugin.test.cjs --log-level=warning && node --test .build/plugin.test.cjs',
  },
  devDependencies: { '@baton/plugin-sdk': 'SDK', ...TOOL_VERSIONS },
};

const COMPILER = {
  compilerOptions: {
    target: 'es2022',
    module: 'preserve',
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    resolveJsonModule: true,
    types: ['node'],
  },
  include: ['src', 'test'],
};

const PLUGIN = `import { readFile, rm, writeFile } from 'node:fs/promises';
import { definePlugin, nodeType } from '@baton/plugin-sdk';
import * as z from 'zod';
import { description, name, version } from '../package.json';

const note = nodeType({
  properties: z.object({
    path: z.string().describe('Path of the file on the worker'),
    text: z.string().default('Hello'),
  }),
  runtime: z.object({ path: z.string() }),

  async create({ properties, runtime, log }) {
    runtime.path = properties.path;
    await writeFile(properties.path, properties.text);
    log.info(\`wrote \${properties.path}\`);
  },

  // What is there now; null when it is gone. Gives the workflows check_status, check_drift, heal and pull.
  async read({ runtime }) {
    try {
      return { text: await readFile(runtime.path ?? '', 'utf8') };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    }
  },
  compare: ['text'],

  async update({ runtime, changes }) {
    if (runtime.path && changes.text !== undefined) await writeFile(runtime.path, changes.text);
  },

  async delete({ runtime }) {
    if (runtime.path) await rm(runtime.path, { force: true });
  },

  // These do no harm when they run again after the loss of a worker.
  resumable: ['create', 'update', 'delete'],
});

export default definePlugin({ name, version, description, types: { 'NAME.nodes.Note': note } });
`;

const TEST = `import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { testNode } from '@baton/plugin-sdk/testing';
import plugin from '../src/plugin';

test('a note is written, repaired and removed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'note-'));
  const path = join(folder, 'note.txt');
  try {
    const node = testNode(plugin, 'NAME.nodes.Note', { properties: { path } });
    await node.run('create');
    assert.equal(await readFile(path, 'utf8'), 'Hello');
    assert.deepEqual(node.runtimeProperties, { path });

    await writeFile(path, 'changed by hand');
    assert.deepEqual(await node.run('check_drift'), [
      { path: 'text', stored: 'Hello', present: 'changed by hand' },
    ]);
    await node.run('heal');
    assert.equal(await node.run('check_drift'), null);

    await node.run('delete');
    await assert.rejects(node.run('check_status'), /does not exist any more/);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('a wrong property is refused by its name', async () => {
  const node = testNode(plugin, 'NAME.nodes.Note', { properties: { path: 'x', text: 5 } });
  await assert.rejects(node.run('create'), /properties\\.text/);
});
`;

const BLUEPRINT = `tosca_definitions_version: cloudify_dsl_1_4

imports:
  - cloudify/types/types.yaml
  - plugin:NAME

inputs:
  text: {type: string, default: Hello}

node_templates:
  note:
    type: NAME.nodes.Note
    properties:
      path: /tmp/NAME.txt
      text: {get_input: text}
`;

const README = `# NAME

A plugin of Baton in TypeScript.

    npm install
    npm test               # checks the types and runs the tests, without a manager
    baton plugins build    # writes dist/NAME-0.1.0.bplug
    baton plugins upload dist/NAME-0.1.0.bplug

    baton blueprints upload example/blueprint.yaml --id NAME
    baton deployments create NAME --blueprint NAME
    baton executions start install --deployment NAME

\`src/plugin.ts\` is the plugin. Files below \`files/\` become a part of the package.
A new release needs a new version in package.json.
`;

/** The files of a new plugin: path and text. */
export function templateFiles(name: string, sdkVersion: string): [path: string, text: string][] {
  const json = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;
  const files: [string, string][] = [
    ['package.json', json(PACKAGE)],
    ['tsconfig.json', json(COMPILER)],
    ['.gitignore', 'node_modules/\n.build/\ndist/\n'],
    ['README.md', README],
    ['src/plugin.ts', PLUGIN],
    ['test/plugin.test.ts', TEST],
    ['example/blueprint.yaml', BLUEPRINT],
  ];
  return files.map(([path, text]) => [
    path,
    text.replaceAll('NAME', name).replace('"SDK"', `"${sdkVersion}"`),
  ]);
}
