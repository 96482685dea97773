export { type Crash, type CrashOptions, crashEverywhere } from './crash-everywhere';
export type { LogLine } from './memory-context';
export { TestFailure } from './test-failure';
export { type RunOptions, type TestNode, type TestNodeOptions, testNode } from './test-node';
