import { AppError } from '@baton/kernel';

/** The refusal of whatever would change the world of a deployment that another manager may still drive. */
export function quarantined(deploymentId: string, source: string): AppError {
  return new AppError(
    'conflict_error',
    `Deployment \`${deploymentId}\` was imported (${source}) and is in quarantine, because the other manager may still drive it. When that is over, activate it: \`baton import activate\``,
    { field: 'deployment_id', expected: 'an activated deployment' },
  );
}
