import { AppError } from '@baton/kernel';

/** Label of a deployment that an import has brought; its value is the source of the archive. It stays. */
export const IMPORTED_FROM_LABEL = 'csys-imported-from';
/** Label of an imported deployment until it is activated; its value is the id of the import. */
export const QUARANTINE_LABEL = 'csys-quarantine';

/** The refusal of whatever would change the world of a deployment that another manager may still drive. */
export function quarantined(deploymentId: string, source: string): AppError {
  return new AppError(
    'conflict_error',
    `Deployment \`${deploymentId}\` was imported (${source}) and is in quarantine, because the other manager may still drive it. When that is over, activate it: \`baton import activate\``,
    { field: 'deployment_id', expected: 'an activated deployment' },
  );
}
