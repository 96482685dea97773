// The two libraries: one file of code for import and one for require, and one file of types.
import { spawnSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { rolldown } from 'rolldown';
import { dts } from 'rolldown-plugin-dts';
import { contracts, slimContracts } from '../../apps/console/build/slim-routes.mjs';
import { root } from '../run-steps.mjs';
import { writeManifest } from './manifest.mjs';

const LIBRARIES = [
  { source: 'packages/client', entry: 'src/outside' },
  { source: 'packages/plugin-sdk', entry: 'src/index' },
];

/** Writes the folders of both packages below `stage`, and returns them. */
export async function stageLibraries(stage) {
  const declared = join(stage, 'declarations');
  declare(declared);
  const folders = [];
  for (const { source, entry } of LIBRARIES) {
    const folder = join(stage, source);
    const code = join(root, source, `${entry}.ts`);
    await Promise.all([
      bundle(code, folder, 'cjs'),
      bundle(code, folder, 'esm'),
      typesOf(declared, join(source, `${entry}.d.ts`), folder),
    ]);
    writeManifest(folder, source, {
      main: './index.cjs',
      module: './index.mjs',
      types: './index.d.ts',
      exports: {
        '.': {
          import: { types: './index.d.mts', default: './index.mjs' },
          require: { types: './index.d.ts', default: './index.cjs' },
        },
      },
      sideEffects: false,
    });
    folders.push(folder);
  }
  return folders;
}

const bundle = (entry, folder, format) =>
  build({
    entryPoints: [entry],
    outfile: join(folder, format === 'cjs' ? 'index.cjs' : 'index.mjs'),
    bundle: true,
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: ['import'],
    target: 'es2022',
    format,
    plugins: [onlyRoutes],
    logLevel: 'error',
  });

/** The contracts hold schemas of all bodies; a client needs method and path of each route. */
const onlyRoutes = {
  name: 'only-routes',
  setup(bundling) {
    bundling.onResolve({ filter: /^@baton\/contracts\/http\/all$/ }, () => ({
      path: contracts,
      namespace: 'routes',
    }));
    bundling.onLoad({ filter: /.*/, namespace: 'routes' }, async () => ({ contents: await slimContracts() }));
  },
};

/** Emits the declarations of all packages that the libraries are made of into `folder`. */
function declare(folder) {
  const compiler = join(root, 'test/node_modules/typescript-native/bin/tsc');
  const command = [compiler, '-p', join(root, 'tools/pack/tsconfig.json'), '--outDir', folder];
  const run = spawnSync(process.execPath, command, { encoding: 'utf8' });
  if (run.status !== 0) throw new Error(`declarations: ${run.stdout}${run.stderr}`);
}

/** Packages of the workspace name their sources as types: their declarations stand in for these. */
const declarationsIn = (folder) => ({
  name: 'declarations',
  resolveId(id) {
    const [, name, path] = /^@baton\/([\w-]+)(?:\/(.+))?$/.exec(id) ?? [];
    return name ? join(folder, 'packages', name, 'src', `${path ?? 'index'}.d.ts`) : undefined;
  },
});

async function typesOf(declared, entry, folder) {
  const bundling = await rolldown({
    input: { index: join(declared, entry) },
    plugins: [declarationsIn(declared), dts({ dtsOnly: true, sourcemap: false })],
  });
  await bundling.write({ dir: folder, format: 'es' });
  // The compiler takes the kind of a module from the ending of its types.
  cpSync(join(folder, 'index.d.ts'), join(folder, 'index.d.mts'));
}
