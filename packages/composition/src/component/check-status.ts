import type { Json } from '@baton/kernel';
import { requireWell } from '../deployments';
import type { Scope } from '../scope';
import { runOnChild } from './run-on-child';

/** Runs check_status on the deployment, which must then be installed, good and complete (reference/workflows.md 8.1). */
export async function checkStatus(scope: Scope): Promise<Json> {
  await requireWell(scope.manager, await runOnChild(scope, 'check_status'));
  return null;
}
