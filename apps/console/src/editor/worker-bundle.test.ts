/** The worker bundle runs in a browser: it uses no Node.js modules. */
import { join } from 'node:path';
import { build } from 'esbuild';

test('the worker is one file for browsers, without modules of Node.js', async () => {
  // With platform `browser`, an import that browsers lack is a build error.
  const { outputFiles, warnings, metafile } = await build({
    entryPoints: [join(__dirname, 'dsl.worker.ts')],
    bundle: true,
    platform: 'browser',
    format: 'esm',
    target: 'es2022',
    write: false,
    metafile: true,
    logLevel: 'silent',
  });
  expect(warnings).toEqual([]);
  const imports = Object.values(metafile.inputs).flatMap(({ imports: all }) => all);
  expect(imports.filter(({ external }) => external)).toEqual([]);
  const { text } = outputFiles[0]!;
  // The page's Content Security Policy also forbids code from strings.
  expect(text).not.toMatch(/\brequire\(|\bprocess\.|\bBuffer\.|\bnew Function\(/);
});
