// The end-to-end suite: tools/e2e.mjs says against which kind of manager.
const base = require('./jest.config.cjs');
module.exports = {
  ...base,
  roots: ['<rootDir>/test/e2e'],
  testPathIgnorePatterns: ['/node_modules/'],
  testTimeout: 120_000,
};
