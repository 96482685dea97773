import { AppError } from '@baton/kernel';

export interface LicenseState {
  trial: boolean;
  expired: boolean;
}

/**
 * What GET /license-check refuses (reference/rest-api.md 8.3): no license, or a trial that ended. An expired paid license
 * serves on. Only this endpoint refuses: Baton is open, so unlike the original's premium edition no other route asks
 * for a license.
 */
export function licenseProblem(license: LicenseState | null): AppError | null {
  if (!license) return new AppError('missing_cloudify_license', 'No license was uploaded to this manager');
  if (license.trial && license.expired)
    return new AppError('expired_cloudify_license', 'The trial license of this manager has expired');
  return null;
}
