// The steps of a test run, one after another or in lanes, and the report at its end.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { childrenCpuSeconds } from '../test/harness/children-cpu.cjs';

/** Lines of a failed step that the report repeats: a log of this length is cut by whoever shows it. */
const LAST_LINES = 25;
/** With more failed steps than this the machine is not the reason, and nothing runs again. */
const MOST_AGAIN = 3;

/** Reports of failed tests, from test/harness/failures-reporter.cjs: [{file, name, message}]. */
function readFailures(file) {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

/**
 * Runs commands (`{args, env}` of Node) in `root` and keeps their results. A step that failed while other steps, or other suites of
 * its own, ran beside it may run again alone (`runAgain`): its times are then its own. The report names every such step.
 */
export function createTestRun(root) {
  const startedAt = performance.now();
  const folder = mkdtempSync(join(tmpdir(), 'baton-test-run-'));
  const results = [];
  let begun = 0;
  let spentBefore = childrenCpuSeconds();

  /** Returns options of the process, and a function that keeps its result. */
  function begin(name, env) {
    const since = performance.now();
    begun += 1;
    const failuresFile = join(folder, `failures-${begun}.jsonl`);
    const note = (status, said = '') => {
      const spent = childrenCpuSeconds();
      const cpuSeconds = spent === null ? null : spent - spentBefore;
      spentBefore = spent;
      const seconds = (performance.now() - since) / 1000;
      const failed = readFailures(failuresFile);
      results.push({ name, isPassed: status === 0, failed, said, seconds, cpuSeconds });
      return results.at(-1);
    };
    const options = { cwd: root, env: { ...process.env, BATON_TEST_FAILURES: failuresFile, ...env } };
    return { options, note };
  }

  /** Runs one step; its output is shown as it comes. */
  function step(name, { args, env }) {
    const { options, note } = begin(name, env);
    console.log(`\n=== ${name}`);
    return note(spawnSync(process.execPath, args, { ...options, stdio: 'inherit' }).status);
  }

  /** Runs a step beside others: its output is shown when it has ended. */
  function stepInLane(name, { args, env }) {
    return new Promise((resolve) => {
      const { options, note } = begin(name, env);
      const child = spawn(process.execPath, args, options);
      let said = '';
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text));
      child.on('close', (status) => {
        said = said.trimEnd();
        console.log(`\n=== ${name}\n${said}`);
        resolve(note(status, said));
      });
    });
  }

  /** Runs lanes in parallel; in a lane the steps run one after another. A lane maps names to commands. */
  async function stepsInLanes(...lanes) {
    await Promise.all(
      lanes.map(async (lane) => {
        for (const [name, command] of Object.entries(lane)) await stepInLane(name, command);
      }),
    );
  }

  /** Runs failed steps again, alone. `commandOf(result)`: the command, or null for a step whose first result counts. */
  function runAgain(commandOf) {
    const failed = results.filter(({ isPassed }) => !isPassed);
    if (failed.length > MOST_AGAIN) return;
    for (const result of failed) {
      const command = commandOf(result);
      if (!command) continue;
      const again = step(`${result.name}, again, alone`, command);
      result.isPassedAgain = again.isPassed;
    }
  }

  /** Prints the failures and a table of the steps. Returns the exit code. */
  function report() {
    rmSync(folder, { recursive: true, force: true });
    for (const { name, isPassed, failed, said } of results) {
      if (isPassed) continue;
      console.log(`\nfailed in "${name}":`);
      for (const { file, name: test, message } of failed) console.log(`${file}: ${test}\n${message}`);
      if (failed.length === 0 && said) console.log(said.split('\n').slice(-LAST_LINES).join('\n'));
    }
    console.log('');
    for (const { name, isPassed, isPassedAgain, seconds, cpuSeconds } of results) {
      const cpu = cpuSeconds === null ? '' : `  ${cpuSeconds.toFixed(0).padStart(4)} s of CPU`;
      const end = isPassed ? 'passed' : isPassedAgain ? 'again ' : 'FAILED';
      console.log(`${end}  ${seconds.toFixed(1).padStart(6)} s${cpu}  ${name}`);
    }
    console.log(`${((performance.now() - startedAt) / 60_000).toFixed(1)} min in all`);
    const lost = results.filter(({ isPassed, isPassedAgain }) => !isPassed && !isPassedAgain).length;
    console.log(`${results.length - lost} passed, ${lost} failed`);
    return lost === 0 ? 0 : 1;
  }

  return { step, stepsInLanes, runAgain, report };
}
