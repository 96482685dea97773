// The program that runs in the process of a TypeScript plugin, as one file: <assets>/module/host.js.
import { join } from 'node:path';
import { build } from 'esbuild';
import { root } from './run-steps.mjs';

/** Writes the program below the folder of the plugin runtime's assets. */
export const buildModuleHost = (assets) =>
  build({
    entryPoints: [join(root, 'packages/plugin-runtime/src/module/child/host.main.ts')],
    outfile: join(assets, 'module/host.js'),
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    minifyWhitespace: true,
    lineLimit: 160,
    legalComments: 'none',
    logLevel: 'error',
    absWorkingDir: root,
  });

if (process.argv[1] === import.meta.filename) await buildModuleHost(process.argv[2]);
