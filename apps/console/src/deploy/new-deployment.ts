/** State of the form of a new deployment. */

import { type LabelDraft, labelErrors } from '../labels/label-drafts';
import { t } from '../text/text';
import type { Visibility } from '../ui/visibility';

export interface NewDeployment {
  id: string;
  displayName: string;
  labels: LabelDraft[];
  /** Empty string: no site. */
  site: string;
  visibility: Visibility;
  skipsPlugins: boolean;
  isRuntimeOnly: boolean;
  isInstalled: boolean;
}

export const beginningOf = (visibility: Visibility): NewDeployment => ({
  id: '',
  displayName: '',
  labels: [],
  site: '',
  // A deployment cannot be more visible than its blueprint.
  visibility: visibility === 'private' ? 'private' : 'tenant',
  skipsPlugins: false,
  isRuntimeOnly: false,
  isInstalled: true,
});

/** Same check as the API: `Deployment.id` of the OpenAPI document. */
const ID = /^[A-Za-z0-9._~-]+$/;
const LONGEST = 256;

export const isId = (id: string): boolean => ID.test(id) && id.length <= LONGEST;

export interface NewDeploymentErrors {
  id?: string;
  display_name?: string;
  labels: Readonly<Record<number, string>>;
}

/** Returns the errors of the form, except errors of inputs. */
export function deploymentErrors(
  { id, displayName, labels }: NewDeployment,
  isTaken: boolean,
): NewDeploymentErrors {
  const errors: NewDeploymentErrors = { labels: labelErrors(labels) };
  if (id === '') errors.id = t.deploy.needed;
  else if (!isId(id)) errors.id = t.deploy.badId;
  else if (isTaken) errors.id = t.deploy.taken;
  if ([...displayName].length > LONGEST) errors.display_name = t.deploy.longName;
  return errors;
}

export const hasErrors = ({ labels, ...errors }: NewDeploymentErrors): boolean =>
  Object.keys(errors).length > 0 || Object.keys(labels).length > 0;
