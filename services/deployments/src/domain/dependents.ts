import { AppError } from '@baton/kernel';

/** A deployment that needs another one: by an inter-deployment dependency, or as a csys-obj-parent child. */
export interface Dependent {
  deploymentId: string;
  /** dependency_creator, or `parent` for a child. */
  creator: string;
  /** installation_status of the dependent. */
  installation: string;
  isExternal?: boolean;
  /** It runs stop, uninstall, update or heal at present. */
  isLeaving?: boolean;
  /** A child that the deployment itself has created as a component. */
  isOwnComponent?: boolean;
}

const HOW: Readonly<Record<string, string>> = {
  component: 'contains',
  sharedresource: 'uses a shared resource from',
};

/** Describes how the dependent uses the deployment, by the prefix of its creator (reference/rest-api.md 5.4). */
export function describeDependent(dependent: Dependent): string {
  const { deploymentId, creator } = dependent;
  const where = dependent.isExternal ? ' of another manager' : '';
  if (creator === 'parent') return `Deployment \`${deploymentId}\` depends on it as its environment`;
  const [prefix, ...rest] = creator.split('.');
  const how = HOW[prefix!];
  const use = how === undefined ? 'uses capabilities of' : how;
  const at = how === undefined ? `\`${creator}\`` : `its node \`${rest.join('.')}\``;
  return `Deployment \`${deploymentId}\`${where} ${use} the current deployment in ${at}`;
}

/** Returns the refusal of an action on `deploymentId` while others depend on it (reference/rest-api.md 6.6). */
export function dependentsError(
  act: string,
  deploymentId: string,
  dependents: readonly Dependent[],
): AppError {
  const lines = dependents.map((dependent, i) => `[${i + 1}] ${describeDependent(dependent)}`);
  return new AppError(
    'dependent_exists_error',
    `Cannot ${act} deployment \`${deploymentId}\`: existing installations depend on it:\n${lines.join('\n')}`,
    { dependents: dependents.map((d) => d.deploymentId), expected: 'no dependents, or force' },
  );
}
