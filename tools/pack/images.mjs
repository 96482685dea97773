// Our own code in the images of deploy/Dockerfile: one folder for each target, and `runtime` for what all of them hold.
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../run-steps.mjs';
import { copyDist } from './dist.mjs';

const IMAGES = {
  runtime: ['telemetry.js', 'proto', 'migrations'],
  migrate: ['apps/standalone'],
  gateway: ['services/gateway', 'apps/console'],
  identity: ['services/identity'],
  catalog: ['services/catalog', 'plugins'],
  deployments: ['services/deployments'],
  executions: ['services/executions'],
  secrets: ['services/secrets'],
  'cluster-status': ['services/cluster-status'],
  worker: ['services/worker', 'bin', 'python', 'module'],
};

/** Writes the folders of all images into `out`, which is emptied. @throws Error without dist/ */
export function stageImages(out) {
  rmSync(out, { recursive: true, force: true });
  for (const [image, paths] of Object.entries(IMAGES)) copyDist(join(out, image), paths);
  // Built by a command of its own: npm run build:agent. The gateway offers it to hosts.
  if (existsSync(join(root, 'dist/agent/index.json'))) copyDist(join(out, 'gateway'), ['agent']);
}
