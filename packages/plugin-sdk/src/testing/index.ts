export { type Cassette, type CassetteOptions, cassette } from './cassette';
export type { BlueprintLanguage } from './check-language';
export { type CheckPluginOptions, checkPlugin } from './check-plugin';
export { type Crash, type CrashOptions, crashEverywhere } from './crash-everywhere';
export { type FakeClock, fakeClock } from './fake-clock';
export type { LogLine } from './memory-context';
export type { RunOptions } from './run-once';
export type { EndedRuns, RetryPolicy } from './run-to-end';
export { TestFailure } from './test-failure';
export { type TestNode, type TestNodeOptions, testNode } from './test-node';
export {
  type TestRelationship,
  type TestRelationshipOptions,
  type TestSide,
  type TestSideOptions,
  testRelationship,
} from './test-relationship';
export type { CheckedPlugin, TypeSample } from './type-sample';
