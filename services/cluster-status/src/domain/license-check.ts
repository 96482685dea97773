import { AppError } from '@baton/kernel';

export interface LicenseState {
  trial: boolean;
  expired: boolean;
}

/**
 * Returns the error of GET /license-check (reference/rest-api.md 8.3): for an expired trial license, and for a missing license
 * when `isAskedFor`. An expired paid license stays valid. Only this endpoint refuses: Baton is open, no other route asks for a
 * license.
 */
export function licenseProblem(license: LicenseState | null, isAskedFor: boolean): AppError | null {
  if (!license)
    return isAskedFor
      ? new AppError('missing_cloudify_license', 'No license was uploaded to this manager')
      : null;
  if (license.trial && license.expired)
    return new AppError('expired_cloudify_license', 'The trial license of this manager has expired');
  return null;
}
