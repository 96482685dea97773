import { spawn } from 'node:child_process';
import type { Ground, Part } from './part';

/** A program that does nothing: started bare, and as a script by the runtime with the isolation of this machine. */
export const processParts = (ground: Ground): Part[] => [
  { name: 'bare spawn', atOnce: 8, run: bareSpawn },
  {
    name: 'script',
    atOnce: 8,
    run: () =>
      ground.operation({ mapping: 'script_runner.tasks.run', inputs: { script_source: '#!/bin/sh\n:' } }),
  },
];

const bareSpawn = (): Promise<void> =>
  new Promise((resolve, reject) => {
    const child = spawn('/bin/true', { stdio: 'ignore' });
    child.once('error', reject);
    child.once('exit', () => resolve());
  });
