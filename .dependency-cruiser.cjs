/**
 * The import law (docs/ARCHITECTURE.md). Layers: kernel <- dsl, task-graph, plugin-sdk, contracts
 * <- trust <- postgres, broker, cache, blob-store, http, rpc, client <- service-runtime, plugin-runtime <- services <- apps.
 */
const pkg = (...names) => `^packages/(${names.join('|')})/`;
const L0 = ['kernel', 'dsl', 'task-graph', 'plugin-sdk'];
const IO = ['tls', 'trust', 'postgres', 'broker', 'cache', 'blob-store', 'http', 'rpc', 'client'];
/** Where plugin-sdk runs programs, requests and remote commands for authors; its other folders stay pure (docs/adr/0039). */
const AUTHOR_TOOLS = '^packages/plugin-sdk/src/(tools?|ssh)/';
/** Entries of their own with libraries of their own: plugins that do not use them do not carry them. */
const AUTHOR_ENTRIES = '^packages/plugin-sdk/src/(tool|ssh)/';
const AUTHOR_SSH = '^packages/plugin-sdk/src/ssh/';
const TESTS = '(\\.test|\\.contract)\\.ts$|/testing/|/testing-[^/]+\\.ts$';
/** A folder of a service, in its `src` or in one of the rooms there. */
const inService = (folders) => `^services/[^/]+/src/((${folders})|[^/]+/(${folders}))/`;
const DATABASE = '/node_modules/(\\.pnpm/)?(pg|kysely)[@/]';
const ENGINE_SERVICE = '^services/executions/src/';
/** Rooms of the executions service, and the rooms that each may import besides what they share (docs/adr/0025). */
const ROOMS = {
  workers: [],
  changes: [],
  events: ['executions', 'groups'],
  schedules: ['executions'],
  executions: ['engine', 'groups', 'events', 'schedules'],
  groups: ['engine', 'executions', 'events'],
  engine: ['executions', 'groups', 'events', 'schedules'],
  'foreign-operations': ['engine', 'executions', 'events'],
  doctor: ['engine', 'executions', 'groups', 'events', 'schedules'],
  imports: ['executions', 'groups', 'events', 'schedules'],
};
const roomLaws = Object.entries(ROOMS).map(([room, allowed]) => ({
  name: `room-${room}`,
  comment: `${room} may import only: ${allowed.join(', ') || 'no other room'}`,
  severity: 'error',
  from: { path: `${ENGINE_SERVICE}${room}/`, pathNot: TESTS },
  to: {
    path: `${ENGINE_SERVICE}(${Object.keys(ROOMS).join('|')})/`,
    pathNot: `${ENGINE_SERVICE}(${[room, ...allowed].join('|')})/`,
    dependencyTypesNot: ['type-only'],
  },
}));
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
    only('zip-reader', []),
    only('cloudify-archive', ['zip-reader']),
    only('trust', ['kernel', 'contracts']),
    only('postgres', ['kernel', 'contracts', 'tls']),
    only('broker', ['kernel', 'contracts', 'tls', 'trust']),
    only('cache', ['kernel', 'contracts', 'tls', 'trust']),
    only('blob-store', ['kernel', 'tls']),
    only('http', ['kernel', 'contracts', 'tls', 'trust']),
    only('rpc', ['kernel', 'contracts', 'tls', 'trust']),
    only('client', ['kernel', 'contracts']),
    only('snapshot-part', ['kernel', 'contracts', 'postgres', 'rpc']),
    only('import-part', ['kernel', 'contracts', 'postgres', 'rpc', 'snapshot-part', 'trust']),
    only('service-runtime', ['kernel', 'contracts', ...IO.filter((name) => name !== 'client')]),
    only('isolation', ['kernel']),
    only('plugin-runtime', ['kernel', 'plugin-sdk', 'isolation']),
    only('composition', ['kernel', 'plugin-sdk', 'contracts', 'client']),
    only('agent-installer', ['kernel', 'plugin-sdk', 'contracts', 'client']),
    only('agent-link', ['kernel', 'contracts', 'rpc']),
    {
      name: 'pure-packages-stay-pure',
      comment: 'kernel, task-graph, plugin-sdk: no runtime dependency and no node: import',
      severity: 'error',
      from: { path: pkg(...L0), pathNot: `${TESTS}|^packages/[^/]+/tools/|${AUTHOR_TOOLS}` },
      to: {
        dependencyTypes: ['core', 'npm', 'npm-dev', 'npm-optional', 'npm-peer'],
        pathNot: '/node_modules/(\\.pnpm/)?(yaml|re2js)[@/]',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'only-dsl-reads-yaml',
      comment: 'the YAML reader and the regular expressions of dsl are the only exception',
      severity: 'error',
      from: { path: pkg('kernel', 'task-graph', 'plugin-sdk'), pathNot: `${TESTS}|${AUTHOR_ENTRIES}` },
      to: { path: '/node_modules/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'only-ssh-reads-ssh2',
      comment:
        'the library of the entry @baton/plugin-sdk/ssh stays there: plugins without SSH do not carry it',
      severity: 'error',
      from: { path: pkg('plugin-sdk'), pathNot: `${TESTS}|${AUTHOR_SSH}` },
      to: { path: `/node_modules/(\\.pnpm/)?ssh2[@/]|${AUTHOR_SSH}` },
    },
    {
      name: 'packages-below-services',
      comment: 'packages import neither services nor apps',
      severity: 'error',
      from: { path: '^packages/', pathNot: '^packages/testkit/' },
      to: { path: '^(services|apps)/' },
    },
    {
      name: 'plugins-use-the-sdk',
      comment: 'plugins are built like those of other authors: of our packages they import plugin-sdk alone',
      severity: 'error',
      from: { path: '^plugins/', pathNot: TESTS },
      to: { path: '^(packages|services|apps|test)/', pathNot: pkg('plugin-sdk') },
    },
    {
      name: 'nobody-imports-plugins',
      comment: 'a plugin reaches a manager as a package',
      severity: 'error',
      from: { path: '^(packages|services|apps)/' },
      to: { path: '^plugins/' },
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
      to: { path: `${pkg('postgres')}|${DATABASE}` },
    },
    {
      name: 'only-standalone-composes',
      comment:
        'only apps/standalone imports services, and only their service.ts; the agent is made of parts of the worker',
      severity: 'error',
      from: { path: '^apps/(?!standalone/)' },
      to: { path: '^services/', pathNot: '^services/worker/src/parts\\.ts$' },
    },
    {
      name: 'only-the-agent-uses-parts',
      comment: 'the entry of the worker for apps/agent is for nobody else',
      severity: 'error',
      from: { path: '^(packages|services|apps|test|bench)/', pathNot: '^apps/agent/' },
      to: { path: '^services/worker/src/parts\\.ts$' },
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
      comment:
        'cli and console import only kernel, contracts, client and dsl; the agent runs operations (docs/adr/0047)',
      severity: 'error',
      from: { path: '^apps/(?!standalone/|agent/)', pathNot: `${TESTS}|^apps/cli/src/estate/` },
      to: { path: '^packages/', pathNot: pkg('kernel', 'contracts', 'client', 'dsl') },
    },
    {
      name: 'agent-imports',
      comment:
        'the agent speaks only through its stream, and lies on hosts: no database, no broker, no server of HTTP',
      severity: 'error',
      from: { path: '^apps/agent/', pathNot: TESTS },
      to: {
        path: '^packages/',
        pathNot: pkg(
          'agent-link',
          'contracts',
          'isolation',
          'kernel',
          'plugin-runtime',
          'plugin-sdk',
          'rpc',
          'service-runtime',
          'tls',
        ),
      },
    },
    {
      name: 'cli-reads-archives-for-comparisons',
      comment: 'apps/cli/src/estate compares a manager with archives; it reads them, too',
      severity: 'error',
      from: { path: '^apps/cli/src/estate/', pathNot: TESTS },
      to: {
        path: '^packages/',
        pathNot: pkg('kernel', 'contracts', 'client', 'dsl', 'cloudify-archive', 'zip-reader'),
      },
    },
    {
      name: 'console-runs-in-browsers',
      comment: 'nothing of Node.js is in the console',
      severity: 'error',
      from: { path: '^apps/console/src/', pathNot: TESTS },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'domain-is-pure',
      comment:
        'domain/ of a service imports only L0, contracts and itself (types, hashing and sealing aside)',
      severity: 'error',
      from: { path: inService('domain'), pathNot: TESTS },
      to: {
        dependencyTypesNot: ['type-only'],
        pathNot: `/src/(domain|[^/]+/domain)/|${pkg(...L0, 'contracts')}|^packages/trust/src/sealed-bytes\\.ts$|/node_modules/(\\.pnpm/)?(zod|rrule-temporal|temporal-polyfill)[@/]|^(node:)?crypto$`,
      },
    },
    {
      name: 'sql-only-in-store',
      comment:
        'store/ and the reads hold the SQL: http, rpc, messages and loops go through commands and queries',
      severity: 'error',
      from: { path: inService('http|rpc|messages|loops'), pathNot: TESTS },
      to: { path: DATABASE },
    },
    {
      name: 'commands-without-kysely',
      comment: 'a command decides; the statements that it needs stand in store/',
      severity: 'error',
      from: { path: inService('commands'), pathNot: TESTS },
      to: { path: DATABASE },
    },
    {
      name: 'edges-without-store',
      comment:
        'http, rpc, messages and loops import no store: they go through commands and queries (types of rows aside)',
      severity: 'error',
      from: { path: inService('http|rpc|messages|loops'), pathNot: TESTS },
      to: { path: inService('store'), dependencyTypesNot: ['type-only'] },
    },
    ...roomLaws,
    {
      name: 'only-engine-sees-graphs',
      comment:
        'graph memory, step writer and all that takes a step are entered through engine/commands and engine/queries',
      severity: 'error',
      from: {
        path: ENGINE_SERVICE,
        pathNot: `${TESTS}|${ENGINE_SERVICE}(engine/|service\\.ts$)`,
      },
      to: { path: `${ENGINE_SERVICE}engine/((steps|store)/|ports\\.ts$)` },
    },
    {
      name: 'own-store',
      comment:
        'statements of schedules, events, workers, foreign operations and the doctor belong to their room',
      severity: 'error',
      from: { path: `${ENGINE_SERVICE}([^/]+)/`, pathNot: `${TESTS}|${ENGINE_SERVICE}doctor/` },
      to: {
        path: `${ENGINE_SERVICE}(schedules|events|workers|foreign-operations|doctor)/store/`,
        // Events are appended by whoever writes what they tell, in its transaction.
        pathNot: `${ENGINE_SERVICE}$1/|/events/store/events\\.sql\\.ts$`,
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'prisma-only-in-store',
      comment: 'the Prisma model of a service is for the statements in its store/',
      severity: 'error',
      from: {
        path: '^services/[^/]+/src/',
        pathNot: ['^services/[^/]+/src/store/', '^services/[^/]+/src/[^/]+/store/'],
      },
      to: { path: '^services/[^/]+/src/store/model\\.ts$' },
    },
    {
      name: 'no-deep-imports',
      comment: 'packages are entered through their exports only',
      severity: 'error',
      from: { path: '^(services|apps|plugins|test|bench)/' },
      to: {
        path: '^packages/[^/]+/src/',
        pathNot:
          '^packages/[^/]+/src/index\\.ts$|^packages/contracts/src/(http/|(folded-change|import-labels|webhook-events)\\.ts$)|^packages/service-runtime/src/(lifecycle/infra|threads/cpu-worker|telemetry/telemetry-sdk)\\.ts$|^packages/tls/src/(authority|signing|signing-request)\\.ts$|^packages/trust/src/sealed-bytes\\.ts$|^packages/testkit/src/(eventually|let-time-pass|plan-with|kube-double/index)\\.ts$|^packages/plugin-sdk/src/(manifest|ssh|tool)/index\\.ts$|^packages/agent-installer/src/plugin/index\\.ts$|^packages/[^/]+/src/testing/index\\.ts$',
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
          '^packages/$1/|^packages/trust/src/sealed-bytes\\.ts$|^packages/plugin-sdk/src/(manifest|ssh|template)/index\\.ts$|^packages/tls/src/(authority|signing|signing-request)\\.ts$|^packages/testkit/src/(eventually|let-time-pass|plan-with)\\.ts$|^packages/[^/]+/src/index\\.ts$|^packages/contracts/src/http/|^packages/[^/]+/src/testing/index\\.ts$',
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
      extensions: ['.ts', '.tsx', '.js', '.mjs', '.cjs', '.json'],
    },
  },
};
