// Runs named commands, a few in parallel; prints the output of failed ones, and a line with times.
import { spawn } from 'node:child_process';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '..');

/** Returns the path of a locally installed command. */
export const bin = (name) => join(root, 'node_modules', '.bin', name);

function run(step) {
  return new Promise((resolve) => {
    const startedMs = performance.now();
    const child = spawn(step.command[0], step.command.slice(1), {
      cwd: root,
      env: { ...process.env, ...step.env },
      stdio: ['ignore', 'pipe', 'pipe'],
      shell: process.platform === 'win32',
    });
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (output += chunk));
    child.on('error', (error) => resolve({ step, code: 127, output: error.message, seconds: 0 }));
    child.on('close', (code) =>
      resolve({ step, code: code ?? 1, output, seconds: (performance.now() - startedMs) / 1000 }),
    );
  });
}

function report(result) {
  const mark = result.code === 0 ? 'ok    ' : 'FAILED';
  console.log(`${mark} ${result.step.name.padEnd(12)} ${result.seconds.toFixed(1).padStart(6)} s`);
  if (result.code !== 0) console.log(result.output.trimEnd());
}

/** Runs steps `{name, command, env?}`, `lanes` at a time; returns whether all succeeded. */
export async function runSteps(steps, lanes = 2) {
  const waiting = [...steps];
  const results = [];
  const lane = async () => {
    for (let step = waiting.shift(); step; step = waiting.shift()) {
      const result = await run(step);
      report(result);
      results.push(result);
    }
  };
  const startedMs = performance.now();
  await Promise.all(Array.from({ length: lanes }, lane));
  const failed = results.filter((r) => r.code !== 0);
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  console.log(
    failed.length === 0
      ? `all ${results.length} steps passed in ${seconds} s`
      : `${failed.length} of ${results.length} steps failed in ${seconds} s`,
  );
  return failed.length === 0;
}
