export { type Cassette, type CassetteOptions, cassette } from './cassette';
export { type Crash, type CrashOptions, crashEverywhere } from './crash-everywhere';
export { type FakeClock, fakeClock } from './fake-clock';
export type { LogLine } from './memory-context';
export type { EndedRuns, RetryPolicy } from './run-to-end';
export { TestFailure } from './test-failure';
export { type RunOptions, type TestNode, type TestNodeOptions, testNode } from './test-node';
