// Our own code in the images of deploy/Dockerfile: one folder for each target, and `runtime` for what all of them hold.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { copyDist } from './dist.mjs';

const IMAGES = {
  runtime: ['telemetry.js', 'proto', 'migrations'],
  migrate: ['apps/standalone'],
  // The gateway offers the agent to hosts.
  gateway: ['services/gateway', 'apps/console', 'agent'],
  identity: ['services/identity'],
  catalog: ['services/catalog', 'plugins'],
  deployments: ['services/deployments'],
  executions: ['services/executions'],
  secrets: ['services/secrets'],
  'cluster-status': ['services/cluster-status'],
  worker: ['services/worker', 'bin', 'python', 'module'],
};

/** Writes the folders of all images into `out`, which is emptied. @throws Error without dist/ and the agent in it */
export function stageImages(out) {
  rmSync(out, { recursive: true, force: true });
  for (const [image, paths] of Object.entries(IMAGES)) copyDist(join(out, image), paths);
}
