/** One deployment: its state, its last run, and its parts as tabs. */
import { IMPORTED_FROM_LABEL, QUARANTINE_LABEL } from '@baton/contracts/import-labels';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { PenLine, Play, Scaling, Tag, Trash2 } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { useApi, useMay, useTenant } from '../api/api-context';
import { type DeploymentDetail, deploymentQuery, topologyQuery } from '../api/deployments';
import { usePollMs } from '../live/live-badge';
import { t } from '../text/text';
import { Badge } from '../ui/badge';
import { Button, buttonClass } from '../ui/button';
import { Copyable } from '../ui/copyable';
import { Notice } from '../ui/notice';
import { Screen } from '../ui/screen';
import { Loaded, Loading } from '../ui/states';
import { Tabs } from '../ui/tabs';
import { useEarlyCode } from '../ui/use-early-code';
import { DeploymentSummary } from './deployment-summary';
import { DEPLOYMENT_TABS, type DeploymentTab } from './deployment-tabs';
import { InputsTab } from './inputs-tab';

const TABS = {
  topology: () => import('./topology-tab'),
  nodes: () => import('./nodes-tab'),
  outputs: () => import('./outputs-tab'),
  runs: () => import('./runs-tab'),
  events: () => import('./events-tab'),
  drift: () => import('./drift-tab'),
};
const TopologyTab = lazy(TABS.topology);
const NodesTab = lazy(TABS.nodes);
const OutputsTab = lazy(TABS.outputs);
const RunsTab = lazy(TABS.runs);
const EventsTab = lazy(TABS.events);
const DriftTab = lazy(TABS.drift);
const RunDialog = lazy(() => import('./run-dialog'));
const SettingsDialog = lazy(() => import('./settings-dialog'));
const ScaleDialog = lazy(() => import('../scale/scale-dialog'));
const DeleteDialog = lazy(() => import('./delete-dialog'));

export function DeploymentScreen() {
  const { id, tab } = useParams({ strict: false }) as { id: string; tab: DeploymentTab };
  const { client } = useApi();
  const tenant = useTenant();
  useEarlyCode(tab === 'inputs' ? undefined : TABS[tab]);
  // The topology is the largest answer: request it in parallel with the deployment, not after it.
  useQuery({ ...topologyQuery(client, tenant, id), enabled: tab === 'topology', notifyOnChangeProps: [] });
  const query = useQuery({ ...deploymentQuery(client, tenant, id), refetchInterval: usePollMs() });
  return <Loaded query={query}>{(deployment) => <Shown deployment={deployment} />}</Loaded>;
}

function Shown({ deployment }: { deployment: DeploymentDetail }) {
  const tenant = useTenant();
  const { tab } = useParams({ strict: false }) as { tab: DeploymentTab };
  const { id } = deployment;
  return (
    <Screen
      name={deployment.display_name || id}
      title={
        <>
          {deployment.display_name || id} <Badge status={deployment.deployment_status} />
        </>
      }
      above={
        <Link to="/$tenant/deployments" params={{ tenant }}>
          {t.deployment.back}
        </Link>
      }
      side={<Actions deployment={deployment} />}
    >
      <Quarantine deployment={deployment} />
      <DeploymentSummary deployment={deployment} />
      <Tabs
        label={t.deployment.tabsLabel}
        tabs={DEPLOYMENT_TABS.map((one) => ({
          to: `/${encodeURIComponent(tenant)}/deployments/${encodeURIComponent(id)}/${one}`,
          text: t.deployment.tabs[one],
          isCurrent: one === tab,
        }))}
      />
      <Suspense fallback={<Loading />}>
        <Tab tab={tab} deployment={deployment} />
      </Suspense>
    </Screen>
  );
}

/** Says how work can begin on an imported deployment; nothing for others. */
function Quarantine({ deployment: { id, labels } }: { deployment: DeploymentDetail }) {
  const tenant = useTenant();
  const labelValue = (key: string) => labels.find((label) => label.key === key)?.value;
  const importId = labelValue(QUARANTINE_LABEL);
  if (importId === undefined) return null;
  return (
    <Notice>
      <p>{t.deployment.quarantine(labelValue(IMPORTED_FROM_LABEL) ?? '')}</p>
      <Copyable
        text={`baton import activate ${importId} --deployment ${tenant}/${id}`}
        name={t.deployment.activation}
      />
    </Notice>
  );
}

function Tab({ tab, deployment }: { tab: DeploymentTab; deployment: DeploymentDetail }) {
  const { id } = deployment;
  if (tab === 'topology') return <TopologyTab id={id} executionId={deployment.latest_execution} />;
  if (tab === 'inputs') return <InputsTab deployment={deployment} />;
  if (tab === 'outputs')
    return <OutputsTab id={id} isInstalled={deployment.installation_status === 'active'} />;
  if (tab === 'runs') return <RunsTab id={id} />;
  if (tab === 'events') return <EventsTab id={id} />;
  if (tab === 'drift') return <DriftTab id={id} />;
  return <NodesTab id={id} />;
}

function Actions({ deployment }: { deployment: DeploymentDetail }) {
  const [open, setOpen] = useState<'run' | 'scale' | 'settings' | 'delete' | null>(null);
  const tenant = useTenant();
  const may = useMay();
  const close = (): void => setOpen(null);
  return (
    <>
      {may('execution_start') && (
        <Button look="main" onClick={() => setOpen('run')}>
          <Play size={15} aria-hidden="true" /> {t.deployment.runWorkflow}
        </Button>
      )}
      {may('deployment_update_create') && (
        <Link
          to="/$tenant/deployments/$id/update"
          params={{ tenant, id: deployment.id }}
          className={buttonClass()}
        >
          <PenLine size={15} aria-hidden="true" /> {t.update.open}
        </Link>
      )}
      {may('execution_start') && canScale(deployment) && (
        <Button onClick={() => setOpen('scale')}>
          <Scaling size={15} aria-hidden="true" /> {t.scale.open}
        </Button>
      )}
      {SETTINGS.some(may) && (
        <Button onClick={() => setOpen('settings')}>
          <Tag size={15} aria-hidden="true" /> {t.settings.edit}
        </Button>
      )}
      {may('deployment_delete') && (
        <Button onClick={() => setOpen('delete')}>
          <Trash2 size={15} aria-hidden="true" /> {t.deployment.delete}
        </Button>
      )}
      <Suspense fallback={null}>
        {open === 'run' && <RunDialog deployment={deployment} onClose={close} />}
        {open === 'scale' && <ScaleDialog deployment={deployment} onClose={close} />}
        {open === 'settings' && <SettingsDialog deployment={deployment} onClose={close} />}
        {open === 'delete' && <DeleteDialog id={deployment.id} onClose={close} />}
      </Suspense>
    </>
  );
}

/** Any of these permissions allows to change name, labels, site or visibility. */
const SETTINGS = ['deployment_update', 'deployment_set_site', 'deployment_set_visibility'];

/** The workflow may be missing, or available only after an installation. */
const canScale = ({ workflows }: DeploymentDetail): boolean =>
  workflows.some((one) => one.name === 'scale' && one.is_available);
