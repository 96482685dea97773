/** Computes the requests that changed settings of a deployment need, so that only changes are sent. Pure. */

import { type LabelDraft, labelsToSend } from '../labels/label-drafts';
import type { Visibility } from '../ui/visibility';

export interface Settings {
  displayName: string;
  /** Empty string: no site. */
  site: string;
  visibility: Visibility;
  labels: readonly LabelDraft[];
}

export type SettingsRequest =
  | { operation: 'updateDeployment'; body: { display_name?: string; labels?: Record<string, string>[] } }
  | { operation: 'setDeploymentSite'; body: { site_name: string } | { detach_site: true } }
  | { operation: 'setDeploymentVisibility'; body: { visibility: 'tenant' | 'global' } };

/** Returns the requests in the order in which they must be sent: a site may need the wider visibility first. */
export function settingsRequests(before: Settings, wanted: Settings): SettingsRequest[] {
  const requests: SettingsRequest[] = [];
  const body: { display_name?: string; labels?: Record<string, string>[] } = {};
  if (wanted.displayName.trim() !== before.displayName) body.display_name = wanted.displayName.trim();
  const labels = labelsToSend(wanted.labels);
  if (JSON.stringify(labels) !== JSON.stringify(labelsToSend(before.labels))) body.labels = labels;
  if (Object.keys(body).length > 0) requests.push({ operation: 'updateDeployment', body });
  if (wanted.visibility !== before.visibility && wanted.visibility !== 'private')
    requests.push({ operation: 'setDeploymentVisibility', body: { visibility: wanted.visibility } });
  if (wanted.site !== before.site)
    requests.push({
      operation: 'setDeploymentSite',
      body: wanted.site === '' ? { detach_site: true } : { site_name: wanted.site },
    });
  return requests;
}
