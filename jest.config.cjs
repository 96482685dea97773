// One configuration for every suite. Names say what a suite needs: *.test.ts nothing, *.int.test.ts real servers or programs,
// *.prop.test.ts properties with random cases; `npm run check` leaves the int ones out.

/** Packages that are ESM only have to go through swc as well. */
const esmOnly = [
  'kysely',
  'eventsource-parser',
  'rrule-temporal',
  'temporal-polyfill',
  'temporal-spec',
  'node-pg-migrate',
  'glob',
  'minimatch',
  '@isaacs',
  'lru-cache',
  'path-scurry',
  'http-proxy-middleware',
  'httpxy',
  'is-plain-obj',
];

/** @type {import('jest').Config} */
module.exports = {
  // Modules are loaded once in a process, not in a realm of its own for each test file: half of the CPU of the tests.
  testEnvironment: '<rootDir>/test/harness/host-environment.cjs',
  runtime: '<rootDir>/test/harness/native-runtime.cjs',
  // Against hangs only: on a busy machine of two cores a test that starts servers takes long.
  testTimeout: 60_000,
  roots: [
    '<rootDir>/packages',
    '<rootDir>/services',
    '<rootDir>/apps',
    '<rootDir>/plugins',
    '<rootDir>/test',
  ],
  testMatch: ['**/*.test.ts'],
  // Suites with a runner of their own: tools/e2e.mjs, test/fault/run.ts.
  testPathIgnorePatterns: ['/node_modules/', '/dist/', '<rootDir>/test/e2e/', '<rootDir>/test/fault/'],
  modulePathIgnorePatterns: ['/dist/'],
  reporters: [
    'default',
    ...(process.env.BATON_TEST_FAILURES ? ['<rootDir>/test/harness/failures-reporter.cjs'] : []),
  ],
  setupFilesAfterEnv: ['<rootDir>/test/harness/fixed-seed.cjs'],
  transform: {
    '^.+\\.(ts|m?js)$': [
      '@swc/jest',
      {
        jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
        module: { type: 'commonjs', ignoreDynamic: false },
        sourceMaps: 'inline',
      },
    ],
  },
  transformIgnorePatterns: [`/node_modules/(?!(\\.pnpm/)?(${esmOnly.join('|')})([@/+]))`],
  moduleFileExtensions: ['ts', 'js', 'mjs', 'cjs', 'json', 'node'],
  cacheDirectory: '<rootDir>/.baton/jest',
};
