/** An update of a deployment in three steps: choose the changes, preview their effects on each resource, apply. */
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useApi, useTenant } from '../api/api-context';
import { deploymentQuery } from '../api/deployments';
import { type DeploymentUpdate, updateQuery } from '../api/updates';
import { t } from '../text/text';
import { Permitted } from '../ui/permitted';
import { Screen } from '../ui/screen';
import { Loaded } from '../ui/states';
import { useAddress } from '../ui/use-address';
import { UpdateForm } from './update-form';
import { UpdatePreview } from './update-preview';
import type { UpdateSearch } from './update-search';

export function UpdateScreen() {
  const { id } = useParams({ strict: false }) as { id: string };
  const { client } = useApi();
  const tenant = useTenant();
  const { search, change } = useAddress<UpdateSearch>();
  const deployment = useQuery(deploymentQuery(client, tenant, id));
  // The inputs of the preview's request. After a reload of the page, they are read from the preview itself.
  const [asked, setAsked] = useState<{ previewId: string; inputs: Record<string, unknown> } | null>(null);
  const { preview_id: previewId } = search;
  const name = deployment.data?.display_name || id;
  return (
    <Screen
      name={t.update.title(name)}
      above={
        <Link to="/$tenant/deployments/$id" params={{ tenant, id }}>
          {t.update.back}
        </Link>
      }
    >
      <Permitted permission="deployment_update_create">
        <Loaded query={deployment}>
          {(detail) =>
            previewId ? (
              <Previewed
                key={previewId}
                deploymentId={id}
                previewId={previewId}
                inputs={asked?.previewId === previewId ? asked.inputs : null}
              />
            ) : (
              <UpdateForm
                key={search.blueprint_id}
                deployment={detail}
                given={asked?.inputs}
                onPreview={(update, inputs) => {
                  setAsked({ previewId: update.id, inputs });
                  change({ preview_id: update.id });
                }}
              />
            )
          }
        </Loaded>
      </Permitted>
    </Screen>
  );
}

interface PreviewedProps {
  deploymentId: string;
  previewId: string;
  inputs: Record<string, unknown> | null;
}

function Previewed({ deploymentId, previewId, inputs }: PreviewedProps) {
  const { client } = useApi();
  const query = useQuery(updateQuery(client, useTenant(), deploymentId, previewId));
  return (
    <Loaded query={query}>
      {(update: DeploymentUpdate) => (
        <UpdatePreview
          deploymentId={deploymentId}
          update={update}
          inputs={inputs}
          onReload={() => void query.refetch()}
        />
      )}
    </Loaded>
  );
}
