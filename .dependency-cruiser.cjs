/**
 * The import law (docs/ARCHITECTURE.md). Layers: kernel <- dsl, task-graph, plugin-sdk, contracts
 * <- trust <- postgres, broker, cache, blob-store, http, rpc, client <- service-runtime, plugin-runtime <- services <- apps.
 */
const pkg = (...names) => `^packages/(${names.join('|')})/`;
const L0 = ['kernel', 'dsl', 'task-graph', 'plugin-sdk'];
const IO = ['tls', 'trust', 'postgres', 'broker', 'cache', 'blob-store', 'http', 'rpc', 'client'];
const TESTS = '(\\.test|\\.contract)\\.ts$|/testing/|/testing-[^/]+\\.ts$';
/** `from` may import these packages (and itself), no other package. */
const only = (name, allowed) => ({
  name: `${name}-imports`,
  comment: `${name} may import only: ${allowed.join(', ') || 'no package of ours'}`,
  severity: 'error',
  from: { path: pkg(name), pathNot: TESTS },
  to: { path: '^packages/', pathNot: pkg(name, ...allowed) },
});

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'no-cycle',
      comment: 'modules must not import each other in a circle',
      severity: 'error',
      from: { pathNot: '/src/gen/' },
      to: { circular: true },
    },
    {
      name: 'not-resolvable',
      comment: 'an import that leads nowhere',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true, pathNot: '^tsx' },
    },
    only('kernel', []),
    only('dsl', ['kernel']),
    only('task-graph', ['kernel']),
    only('plugin-sdk', ['kernel']),
    only('contracts', ['kernel']),
    only('tls', ['kernel']),
    only('trust', ['kernel', 'contracts']),
    only('postgres', ['kernel', 'contracts', 'tls']),
    only('broker', ['kernel', 'contracts', 'tls', 'trust']),
    only('cache', ['kernel', 'contracts', 'tls', 'trust']),
    only('blob-store', ['kernel', 'tls']),
    only('http', ['kernel', 'contracts', 'tls', 'trust']),
    only('rpc', ['kernel', 'contracts', 'tls', 'trust']),
    only('client', ['kernel', 'contracts']),
    only('snapshot-part', ['kernel', 'contracts', 'postgres', 'rpc']),
    only('service-runtime', ['kernel', 'contracts', ...IO.filter((name) => name !== 'client')]),
    only('isolation', ['kernel']),
    only('plugin-runtime', ['kernel', 'plugin-sdk', 'isolation']),
    only('composition', ['kernel', 'plugin-sdk', 'contracts', 'client']),
    {
      name: 'pure-packages-stay-pure',
      comment: 'kernel, task-graph, plugin-sdk: no runtime dependency and no node: import',
      severity: 'error',
      from: { path: pkg(...L0), pathNot: `${TESTS}|^packages/[^/]+/tools/` },
      to: {
        dependencyTypes: ['core', 'npm', 'npm-dev', 'npm-optional', 'npm-peer'],
        pathNot: '/node_modules/(\\.pnpm/)?(yaml|re2js)[@/]',
      },
    },
    {
      name: 'only-dsl-reads-yaml',
      comment: 'the YAML reader and the regular expressions of dsl are the only exception',
      severity: 'error',
      from: { path: pkg('kernel', 'task-graph', 'plugin-sdk'), pathNot: TESTS },
      to: { path: '/node_modules/' },
    },
    {
      name: 'packages-below-services',
      comment: 'packages import neither services nor apps',
      severity: 'error',
      from: { path: '^packages/', pathNot: '^packages/testkit/' },
      to: { path: '^(services|apps)/' },
    },
    {
      name: 'testkit-in-tests-only',
      comment: 'testkit belongs to tests',
      severity: 'error',
      from: { path: '^(packages|services|apps)/', pathNot: `${TESTS}|^packages/testkit/` },
      to: { path: pkg('testkit') },
    },
    {
      name: 'no-service-to-service',
      comment: 'services talk by rpc and messages',
      severity: 'error',
      from: { path: '^services/([^/]+)/' },
      to: { path: '^services/', pathNot: '^services/$1/' },
    },
    {
      name: 'services-below-apps',
      comment: 'services import no app',
      severity: 'error',
      from: { path: '^services/' },
      to: { path: '^apps/' },
    },
    {
      name: 'no-database-in-gateway-and-worker',
      comment: 'gateway and worker never import postgres',
      severity: 'error',
      from: { path: '^services/(gateway|worker)/' },
      to: { path: `${pkg('postgres')}|/node_modules/(\\.pnpm/)?(pg|kysely)[@/]` },
    },
    {
      name: 'only-standalone-composes',
      comment: 'only apps/standalone imports services, and only their service.ts',
      severity: 'error',
      from: { path: '^apps/(?!standalone/)' },
      to: { path: '^services/' },
    },
    {
      name: 'standalone-through-service-ts',
      comment: 'standalone imports services through their service.ts',
      severity: 'error',
      from: { path: '^apps/standalone/' },
      to: { path: '^services/', pathNot: '^services/[^/]+/src/service\\.ts$' },
    },
    {
      name: 'apps-speak-http',
      comment: 'cli and console import only kernel, contracts, client (cli also dsl)',
      severity: 'error',
      from: { path: '^apps/(?!standalone/)', pathNot: TESTS },
      to: { path: '^packages/', pathNot: pkg('kernel', 'contracts', 'client', 'dsl') },
    },
    {
      name: 'domain-is-pure',
      comment: 'domain/ of a service imports only L0, contracts and itself (types and hashing aside)',
      severity: 'error',
      from: { path: '^services/[^/]+/src/domain/', pathNot: TESTS },
      to: {
        dependencyTypesNot: ['type-only'],
        pathNot: `/src/domain/|${pkg(...L0, 'contracts')}|/node_modules/(\\.pnpm/)?(zod|rrule-temporal|temporal-polyfill)[@/]|^(node:)?crypto$`,
      },
    },
    {
      name: 'sql-only-in-store',
      comment:
        'store/ and the reads hold the SQL: http, rpc, messages and loops go through commands and queries',
      severity: 'error',
      from: { path: '^services/[^/]+/src/(http|rpc|messages)/', pathNot: TESTS },
      to: { path: '/node_modules/(\\.pnpm/)?(pg|kysely)[@/]' },
    },
    {
      name: 'prisma-only-in-store',
      comment: 'the Prisma model of a service is for the statements in its store/',
      severity: 'error',
      from: { path: '^services/[^/]+/src/', pathNot: '^services/[^/]+/src/store/' },
      to: { path: '^services/[^/]+/src/store/model\\.ts$' },
    },
    {
      name: 'no-deep-imports',
      comment: 'packages are entered through their exports only',
      severity: 'error',
      from: { path: '^(services|apps|test|bench)/' },
      to: {
        path: '^packages/[^/]+/src/',
        pathNot:
          '^packages/[^/]+/src/index\\.ts$|^packages/contracts/src/http/|^packages/service-runtime/src/(infra|cpu-worker|telemetry-sdk)\\.ts$|^packages/tls/src/authority\\.ts$|^packages/[^/]+/src/testing/index\\.ts$',
      },
    },
    {
      name: 'no-deep-imports-between-packages',
      comment: 'packages are entered through their exports only',
      severity: 'error',
      from: { path: '^packages/([^/]+)/' },
      to: {
        path: '^packages/[^/]+/src/',
        pathNot:
          '^packages/$1/|^packages/tls/src/authority\\.ts$|^packages/[^/]+/src/index\\.ts$|^packages/contracts/src/http/|^packages/[^/]+/src/testing/index\\.ts$',
      },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules|/dist/' },
    exclude: { path: '/(src|test-prisma)/gen/|/node_modules/.*/node_modules/.*\\.d\\.ts$' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
      extensions: ['.ts', '.js', '.mjs', '.cjs', '.json'],
    },
  },
};
