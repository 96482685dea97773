import type { ImportContext, Judgement } from '@baton/import-part';
import { sharedMap } from '@baton/import-part';

/** What this run knows of a deployment of the archive. */
export interface TakenDeployment {
  /** Null until its row is written. */
  key: number | null;
  fate: string;
  /** What the archive says; compared at the end. */
  archived: { installation: string | null; services: number; environments: number };
}

/** Deployments of the tenant's archive by id. */
export const takenDeployments = (context: ImportContext): Map<string, TakenDeployment> =>
  sharedMap<TakenDeployment>(context, `deployments of ${context.tenant}`);

/** Keys of deployments that this run has written. */
export const writtenKeys = (context: ImportContext): number[] =>
  [...takenDeployments(context).values()].flatMap(({ key, fate }) =>
    key !== null && (fate === 'imported' || fate === 'replaced') ? [key] : [],
  );

/** Decides by its deployment whether a record can be taken; null: nothing speaks against it. */
export function judgeByDeployment(context: ImportContext, deploymentId: string | null): Judgement | null {
  const taken = deploymentId === null ? undefined : takenDeployments(context).get(deploymentId);
  if (!taken || taken.key === null || taken.fate === 'lost')
    return { fate: 'lost', code: 'dangling', text: 'its deployment is not imported' };
  if (taken.fate === 'skipped' || taken.fate === 'conflict')
    return { fate: 'skipped', code: 'deployment-skipped', text: 'its deployment here is kept as it is' };
  return null;
}

/** Key of the deployment of a record that was judged by it. */
export const keyOf = (context: ImportContext, deploymentId: string | null): number =>
  takenDeployments(context).get(deploymentId ?? '')!.key!;
