import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';

/** A command of the agent as a real process, from sources. */
export interface AgentProcess {
  child: ChildProcess & { pid: number };
  /** Exit code, or the name of a signal. */
  ended: Promise<number | string>;
  output(): string;
}

export function startProcess(args: readonly string[], input?: string): AgentProcess {
  const main = join(__dirname, '../main.ts');
  const child = spawn(process.execPath, ['--import', 'tsx', main, ...args], { stdio: 'pipe' });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (part) => {
      text += String(part);
    });
  child.stdin.end(input ?? '');
  const ended = new Promise<number | string>((resolve) =>
    child.once('close', (code, signal) => resolve(code ?? signal ?? '')),
  );
  return { child: child as unknown as AgentProcess['child'], ended, output: () => text };
}
