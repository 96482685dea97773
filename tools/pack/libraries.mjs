// The two libraries: one file of code for import and one for require, and one file of types.
import { spawnSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { rolldown } from 'rolldown';
import { dts } from 'rolldown-plugin-dts';
import { contracts, slimContracts } from '../../apps/console/build/slim-routes.mjs';
import { root } from '../run-steps.mjs';
import { pinned, writeManifest } from './manifest.mjs';

const LIBRARIES = [
  { source: 'packages/client', entries: { index: 'src/outside' }, platform: 'neutral', dependencies: [] },
  {
    source: 'packages/plugin-sdk',
    entries: {
      index: 'src/index',
      testing: 'src/testing/index',
      manifest: 'src/manifest/index',
      tool: 'src/tool/index',
      ssh: 'src/ssh/index',
    },
    platform: 'node',
    // Only its types: authors bring their zod, in the version of these types.
    dependencies: ['zod'],
  },
];

/** Writes the folders of both packages below `stage`, and returns them. */
export async function stageLibraries(stage) {
  const declared = join(stage, 'declarations');
  declare(declared);
  const folders = [];
  for (const { source, entries, platform, dependencies } of LIBRARIES) {
    const folder = join(stage, source);
    for (const [name, entry] of Object.entries(entries)) {
      const code = join(root, source, `${entry}.ts`);
      await Promise.all([
        bundle(code, join(folder, `${name}.cjs`), platform),
        bundle(code, join(folder, `${name}.mjs`), platform),
        typesOf(declared, join(source, `${entry}.d.ts`), folder, name),
      ]);
    }
    writeManifest(folder, source, {
      main: './index.cjs',
      module: './index.mjs',
      types: './index.d.ts',
      exports: Object.fromEntries(Object.keys(entries).map((name) => [pathOf(name), exportOf(name)])),
      sideEffects: false,
      ...(dependencies.length > 0 ? { dependencies: pinned(dependencies) } : {}),
    });
    folders.push(folder);
  }
  return folders;
}

const pathOf = (name) => (name === 'index' ? '.' : `./${name}`);

const exportOf = (name) => ({
  import: { types: `./${name}.d.mts`, default: `./${name}.mjs` },
  require: { types: `./${name}.d.ts`, default: `./${name}.cjs` },
});

const REQUIRE =
  "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";

/** The ending of the file says the kind of the module: .cjs or .mjs. */
const bundle = (entry, outfile, platform) =>
  build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform,
    mainFields: ['module', 'main'],
    conditions: ['import'],
    target: 'es2022',
    format: outfile.endsWith('.cjs') ? 'cjs' : 'esm',
    plugins: [onlyRoutes],
    // ssh2 is CommonJS, which asks for modules of Node.js by require.
    ...(outfile.endsWith('/ssh.mjs') && { banner: { js: REQUIRE } }),
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

async function typesOf(declared, entry, folder, name) {
  const bundling = await rolldown({
    input: { [name]: join(declared, entry) },
    plugins: [declarationsIn(declared), dts({ dtsOnly: true, sourcemap: false })],
  });
  await bundling.write({ dir: folder, format: 'es' });
  // The compiler takes the kind of a module from the ending of its types.
  cpSync(join(folder, `${name}.d.ts`), join(folder, `${name}.d.mts`));
}
