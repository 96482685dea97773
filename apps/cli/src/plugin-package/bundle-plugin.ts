/** Makes the code of a package, and asks the plugin to describe itself. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import type { BuildFailure, BuildOptions, Plugin } from 'esbuild';
import { CommandFailure } from '../failure';
import { type AuthorFolder, ENTRY } from './author-folder';

export interface Bundle {
  /** CommonJS in one file. */
  code: string;
  /** Files that are in it, as absolute paths. */
  sources: string[];
}

/** What the plugin says about itself: `describePlugin` of the SDK. */
export interface Description {
  name: string;
  version: string;
  description: string;
  types: string[];
  secrets: string[];
  comments: { path: string[]; text: string }[];
  yaml: Record<string, unknown>;
}

/** Oldest Node.js of a worker. */
const TARGET = 'node20';
const DESCRIBE_MS = 60_000;

/** @throws CommandFailure with file, line and column of each mistake; for a native addon with its path */
export async function bundlePlugin(folder: AuthorFolder): Promise<Bundle> {
  const { outputFiles, metafile } = await build(folder, {
    entryPoints: [join(folder.path, ENTRY)],
    metafile: true,
    // Comments of the bundler name the folders of this machine.
    minifyWhitespace: true,
    lineLimit: 160,
  });
  const sources = Object.keys(metafile!.inputs).map((path) => resolve(folder.path, path));
  return { code: outputFiles![0]!.text, sources: sources.sort() };
}

/** A page in Markdown and a JSON Schema: `documentPlugin` of the SDK. */
export interface Documentation {
  page: string;
  schema: Record<string, unknown>;
}

/** @throws CommandFailure with the mistake in the definition */
export const describeBundled = (folder: AuthorFolder): Promise<Description> =>
  asked<Description>(folder, ['describePlugin'], 'describePlugin(plugin)');

/** @throws CommandFailure with the mistake in the definition */
export const documentBundled = (folder: AuthorFolder): Promise<Documentation> =>
  asked<Documentation>(
    folder,
    ['documentPlugin'],
    'documentPlugin(plugin, z.toJSONSchema)',
    "import * as z from 'zod';",
  );

/**
 * Loads the plugin in a process of its own, without the environment of this one, and returns the value of an expression.
 * @param names functions of the SDK that the expression needs
 * @throws CommandFailure with the mistake in the definition
 */
async function asked<Answer>(
  folder: AuthorFolder,
  names: readonly string[],
  expression: string,
  imports = '',
): Promise<Answer> {
  const place = mkdtempSync(join(tmpdir(), 'baton-plugin-'));
  try {
    const { outputFiles } = await build(folder, {
      stdin: {
        contents: `import plugin from './${ENTRY}';
import { ${names.join(', ')} } from '@baton/plugin-sdk/manifest';
import { writeFileSync } from 'node:fs';
${imports}
writeFileSync(process.argv[2], JSON.stringify(${expression}));
process.exit(0);
`,
        resolveDir: folder.path,
        loader: 'ts',
      },
    });
    const code = join(place, 'describe.cjs');
    const answer = join(place, 'answer.json');
    writeFileSync(code, outputFiles![0]!.text);
    await run(code, answer, folder.path);
    return JSON.parse(readFileSync(answer, 'utf8')) as Answer;
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

function run(code: string, answer: string, cwd: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const options = { cwd, env: {}, timeout: DESCRIBE_MS, maxBuffer: 16 * 1024 * 1024 };
    execFile(process.execPath, [code, answer], options, (error, _stdout, stderr) => {
      if (error === null) return resolve();
      // Node.js shows the place of the error first, then `Name: message`, then frames.
      const message =
        /^\w*Error: (?:.|\n)*?(?=\n\s+at |$)/m.exec(stderr)?.[0] ?? (stderr.trim() || error.message);
      reject(new CommandFailure(`${ENTRY} cannot be loaded: ${message}`));
    });
  });
}

/** @throws CommandFailure with the place of each mistake */
async function build(folder: AuthorFolder, options: BuildOptions) {
  try {
    return await folder.esbuild.build({
      absWorkingDir: folder.path,
      bundle: true,
      write: false,
      platform: 'node',
      format: 'cjs',
      target: TARGET,
      legalComments: 'none',
      logLevel: 'silent',
      define: { 'import.meta.url': '__importMetaUrl' },
      banner: { js: "const __importMetaUrl = require('node:url').pathToFileURL(__filename).href;" },
      plugins: [noNativeAddons(folder.path), ...(folder.development ? [ownVersion(folder)] : [])],
      ...options,
    });
  } catch (failure) {
    const { errors } = failure as BuildFailure;
    if (!Array.isArray(errors)) throw failure;
    throw new CommandFailure(
      errors
        .map(({ text, location }) =>
          location ? `${location.file}:${location.line}:${location.column + 1}: ${text}` : text,
        )
        .join('\n'),
    );
  }
}

/** The code takes its version from package.json: it gets the one of the build instead. */
const ownVersion = ({ path: folder, version }: AuthorFolder): Plugin => ({
  name: 'own-version',
  setup: (building) =>
    building.onLoad({ filter: /package\.json$/ }, ({ path }) => {
      if (path !== join(folder, 'package.json')) return null;
      const manifest = { ...JSON.parse(readFileSync(path, 'utf8')), version };
      return { contents: JSON.stringify(manifest), loader: 'json' };
    }),
});

/** Native code would run outside of every limit, and would not fit other machines. */
const noNativeAddons = (folder: string): Plugin => ({
  name: 'no-native-addons',
  setup: (building) =>
    building.onLoad({ filter: /\.node$/ }, ({ path }) => ({
      errors: [{ text: `${relative(folder, path)} is a native addon: a plugin holds JavaScript only` }],
    })),
});
