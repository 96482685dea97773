import { unpackWaiting } from '../commands/unpack-workdir';
import type { ServiceDeps } from '../deps';

const INTERVAL_MS = 10_000;

/** Completes PUT /deployments with `workdir_zip` after its process died between deployment and files; at most 8 a tick. */
export function unpackWorkdirsLoop(deps: Pick<ServiceDeps, 'db' | 'catalog' | 'log'>) {
  return { name: 'unpack-workdirs', intervalMs: INTERVAL_MS, tickOnce: () => unpackWaiting(deps) };
}
