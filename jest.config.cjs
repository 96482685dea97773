// One configuration for every suite; `npm run check` selects the pure ones by name.
/** @type {import('jest').Config} */
module.exports = {
  testEnvironment: 'node',
  roots: ['<rootDir>/packages', '<rootDir>/services', '<rootDir>/apps', '<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/dist/'],
  transform: {
    '^.+\\.(ts|m?js)$': [
      '@swc/jest',
      { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' }, module: { type: 'commonjs' } },
    ],
  },
  // Packages that are ESM only have to go through swc as well.
  transformIgnorePatterns: ['/node_modules/(?!(\\.pnpm/)?(jose|kysely|eventsource-parser|rrule-temporal|temporal-polyfill|temporal-spec|node-pg-migrate|glob|minimatch|@isaacs|lru-cache)([@/+]))'],
  moduleFileExtensions: ['ts', 'js', 'mjs', 'cjs', 'json', 'node'],
};
