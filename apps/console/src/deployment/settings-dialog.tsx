/** Edits name, labels, site and visibility of a deployment. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi, useMay, useTenant } from '../api/api-context';
import { type DeploymentDetail, deploymentKeys } from '../api/deployments';
import { siteNamesQuery } from '../api/plans';
import { labelErrors } from '../labels/label-drafts';
import { LabelsEditor } from '../labels/labels-editor';
import { t } from '../text/text';
import { FormDialog } from '../ui/form-dialog';
import { SelectField, TextField } from '../ui/inputs';
import { VisibilityField } from '../ui/visibility';
import { type Settings, type SettingsRequest, settingsRequests } from './settings-changes';

/** The manager computes this label: it is neither shown nor sent here. */
const COMPUTED_LABEL = 'csys-consumer-id';

const settingsOf = (deployment: DeploymentDetail): Settings => ({
  displayName: deployment.display_name,
  site: deployment.site_name ?? '',
  visibility: deployment.visibility,
  labels: deployment.labels
    .filter(({ key }) => key !== COMPUTED_LABEL)
    .map(({ key, value }) => ({ key, value })),
});

export default function SettingsDialog({
  deployment,
  onClose,
}: {
  deployment: DeploymentDetail;
  onClose: () => void;
}) {
  const { client } = useApi();
  const tenant = useTenant();
  const cache = useQueryClient();
  const may = useMay();
  const { id } = deployment;
  const [before] = useState(() => settingsOf(deployment));
  const [wanted, setWanted] = useState(before);
  const sites = useQuery({ ...siteNamesQuery(client, tenant), enabled: may('site_list') });
  const rows = labelErrors(wanted.labels);
  const save = useMutation({
    mutationFn: async () => {
      for (const request of settingsRequests(before, wanted)) await send(request);
    },
    onSuccess: onClose,
    // Some of the requests may have succeeded.
    onSettled: () =>
      Promise.all([
        cache.invalidateQueries({ queryKey: deploymentKeys.one(tenant, id) }),
        cache.invalidateQueries({ queryKey: deploymentKeys.lists(tenant) }),
      ]),
  });
  const send = ({ operation, body }: SettingsRequest): Promise<unknown> =>
    client.call(operation, { tenant, params: { id }, body, query: { _include: 'id' } } as never);
  const change = (part: Partial<Settings>): void => setWanted((now) => ({ ...now, ...part }));
  const siteNames = sites.data ?? [];
  const offered =
    wanted.site === '' || siteNames.includes(wanted.site) ? siteNames : [wanted.site, ...siteNames];
  return (
    <FormDialog
      title={t.settings.title(deployment.display_name || id)}
      submit={t.settings.save}
      mutation={save}
      isIncomplete={Object.keys(rows).length > 0}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      {(errorOf) => (
        <>
          {may('deployment_update') && (
            <TextField
              label={t.deploy.displayName}
              error={errorOf('display_name')}
              value={wanted.displayName}
              onChange={(displayName) => change({ displayName })}
            />
          )}
          {may('deployment_set_visibility') && (
            <VisibilityField
              value={wanted.visibility}
              atLeast={before.visibility}
              error={errorOf('visibility')}
              onChange={(visibility) => change({ visibility })}
            />
          )}
          {may('deployment_set_site') && offered.length > 0 && (
            <SelectField
              label={t.deploy.site}
              error={errorOf('site_name')}
              value={wanted.site}
              options={[['', t.deploy.noSite], ...offered.map((name) => [name, name] as const)]}
              onChange={(site) => change({ site })}
            />
          )}
          {may('deployment_update') && (
            <LabelsEditor
              of="deployments"
              drafts={wanted.labels}
              errors={rows}
              onChange={(labels) => change({ labels })}
            />
          )}
        </>
      )}
    </FormDialog>
  );
}
