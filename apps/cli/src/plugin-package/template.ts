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
  description: 'Notes',
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

const PLUGIN = `import { randomUUID } from 'node:crypto';
import { definePlugin, nodeType } from '@baton/plugin-sdk';
import * as z from 'zod';
import { description, name, version } from '../package.json';

// A note that is kept with the node instance. A plugin for a service asks the service instead, with http.
const note = nodeType({
  description: 'A note',
  properties: z.object({
    text: z.string().min(1).default('Hello').describe('Text of the note'),
  }),
  runtime: z.object({ id: z.string(), saved: z.string() }),

  async create({ properties, runtime, step, log }) {
    // The result of a step is stored: when the worker is lost, the next one goes on with the same id.
    runtime.id = await step('id', async () => randomUUID());
    runtime.saved = properties.text;
    log.info(\`wrote the note \${runtime.id}\`);
  },

  // The present values; null when the thing is gone. Gives the workflows check_status, check_drift, heal and pull.
  read({ runtime }) {
    return runtime.saved === undefined ? null : { text: runtime.saved };
  },
  compare: ['text'],

  update({ runtime, changes }) {
    if (changes.text !== undefined) runtime.saved = changes.text;
  },

  delete({ runtime }) {
    delete runtime.saved;
  },

  operations: {
    shout: {
      inputs: z.object({ times: z.int().min(1).max(3).default(1) }),
      run: ({ runtime, inputs }) => \`\${runtime.saved ?? ''}\${'!'.repeat(inputs.times)}\`,
    },
  },

  // These do no harm when they run again after the loss of a worker.
  resumable: ['create', 'update', 'delete'],
});

export default definePlugin({ name, version, description, types: { 'NAME.nodes.Note': note } });
`;

const TEST = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crashEverywhere, testNode } from '@baton/plugin-sdk/testing';
import plugin from '../src/plugin';

const makeNote = (properties = {}) => testNode(plugin, 'NAME.nodes.Note', { properties });

test('a note is written, changed in place and removed', async () => {
  const node = makeNote();
  await node.run('create');
  assert.equal(node.runtimeProperties.saved, 'Hello');
  assert.equal(await node.run('shout', { times: 2 }), 'Hello!!');

  node.properties.text = 'Good morning';
  assert.deepEqual(await node.run('check_drift'), [
    { path: 'text', stored: 'Good morning', present: 'Hello' },
  ]);
  await node.run('update');
  assert.equal(await node.run('check_drift'), null);

  await node.run('delete');
  await assert.rejects(node.run('check_status'), /does not exist any more/);
});

test('a wrong property is refused by its name', async () => {
  await assert.rejects(makeNote({ text: 5 }).run('create'), /properties\\.text/);
});

test('a worker may be lost behind each step', async () => {
  await crashEverywhere(() => makeNote(), 'create');
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
      text: {get_input: text}

outputs:
  note:
    value: {get_attribute: [note, saved]}
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
    baton deployments outputs NAME
    baton deployments update NAME -i text='Good morning'    # changes the note in place

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
