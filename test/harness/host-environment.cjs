// The jest environment of native-runtime.cjs: it uses the process's own globals. After a test file, variables, listeners and the
// working directory are restored.
const { appendFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { childrenCpuSeconds } = require('./children-cpu.cjs');

const fromJest = createRequire(require.resolve('jest'));
const fromCore = createRequire(fromJest.resolve('@jest/core'));
const fromEnvironment = createRequire(fromCore.resolve('jest-environment-node'));
const { ModernFakeTimers, LegacyFakeTimers } = fromEnvironment('@jest/fake-timers');
const { ModuleMocker } = fromEnvironment('jest-mock');

const EVENTS = [
  'uncaughtException',
  'unhandledRejection',
  'SIGTERM',
  'SIGINT',
  'SIGHUP',
  'exit',
  'beforeExit',
  'warning',
];

/** Begins to measure a test file; the returned function appends its costs, in seconds, to the file that `BATON_TEST_COSTS` names. */
function costsOf(testPath) {
  const file = process.env.BATON_TEST_COSTS;
  if (!file) return () => undefined;
  const startedAt = performance.now();
  const before = process.cpuUsage();
  const childrenBefore = childrenCpuSeconds();
  return () => {
    const { user, system } = process.cpuUsage(before);
    const costs = {
      path: testPath,
      wall: (performance.now() - startedAt) / 1000,
      own: (user + system) / 1e6,
      children: childrenCpuSeconds() - childrenBefore,
    };
    appendFileSync(file, `${JSON.stringify(costs)}\n`);
  };
}

module.exports = class HostEnvironment {
  constructor({ projectConfig: config }, { testPath }) {
    this.noteCosts = costsOf(testPath);
    this.global = globalThis;
    this.moduleMocker = new ModuleMocker(globalThis);
    const timerConfig = { idToRef: (id) => id, refToId: (ref) => ref };
    this.fakeTimers = new LegacyFakeTimers({
      config,
      global: globalThis,
      moduleMocker: this.moduleMocker,
      timerConfig,
    });
    this.fakeTimersModern = new ModernFakeTimers({ config, global: globalThis });
    const { exit } = process;
    const env = { ...process.env };
    const cwd = process.cwd();
    const listeners = EVENTS.map((event) => [event, new Set(process.rawListeners(event))]);
    this.putBack = () => {
      process.exit = exit;
      for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
      Object.assign(process.env, env);
      process.chdir(cwd);
      for (const [event, before] of listeners)
        for (const listener of process.rawListeners(event))
          if (!before.has(listener)) process.removeListener(event, listener);
    };
  }

  async setup() {}

  async teardown() {
    this.fakeTimers.dispose();
    this.fakeTimersModern.dispose();
    this.putBack();
    this.noteCosts();
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  getVmContext() {
    return null;
  }
};
