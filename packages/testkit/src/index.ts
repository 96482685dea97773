export { eventually } from './eventually';
export { setFakeNow } from './fake-now';
export { testNamespace } from './namespace';
export { testUrls, withDatabase } from './services';
export { type TestDatabase, type TestDatabaseOptions, testDatabase } from './test-database';
export { type TestSignal, testSignals } from './test-signals';
