/** One blueprint: its validity, inputs and outputs, files, topology, and the resources that use it. */
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { PenLine, Rocket, Trash2 } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { useApi, useMay, useTenant } from '../api/api-context';
import { type BlueprintDetail, blueprintQuery } from '../api/blueprints';
import { usePollMs } from '../live/live-badge';
import { t } from '../text/text';
import { Badge } from '../ui/badge';
import { Button } from '../ui/button';
import buttons from '../ui/button.module.css';
import { Screen } from '../ui/screen';
import { Loaded, Loading } from '../ui/states';
import { Tabs } from '../ui/tabs';
import { useMayChange } from '../ui/visibility';
import { BlueprintIcon } from './blueprint-icon';
import { BLUEPRINT_TABS, type BlueprintTab } from './blueprint-tabs';
import { OverviewTab } from './overview-tab';

const SourceTab = lazy(() => import('./source-tab'));
const TopologyTab = lazy(() => import('./plan-topology-tab'));
const UsesTab = lazy(() => import('./uses-tab'));
const DeleteDialog = lazy(() => import('./delete-blueprint-dialog'));

export function BlueprintScreen() {
  const { id } = useParams({ strict: false }) as { id: string };
  const { client } = useApi();
  const query = useQuery({ ...blueprintQuery(client, useTenant(), id), refetchInterval: usePollMs() });
  return <Loaded query={query}>{(blueprint) => <Shown blueprint={blueprint} />}</Loaded>;
}

function Shown({ blueprint }: { blueprint: BlueprintDetail }) {
  const tenant = useTenant();
  const { tab } = useParams({ strict: false }) as { tab: BlueprintTab };
  const { id } = blueprint;
  return (
    <Screen
      name={id}
      title={
        <>
          <BlueprintIcon blueprint={blueprint} isLarge /> {id} <Badge status={blueprint.state} />
        </>
      }
      above={
        <Link to="/$tenant/blueprints" params={{ tenant }}>
          {t.blueprint.back}
        </Link>
      }
      side={<Actions blueprint={blueprint} />}
    >
      <Tabs
        label={t.blueprint.tabsLabel}
        tabs={BLUEPRINT_TABS.map((one) => ({
          to: `/${encodeURIComponent(tenant)}/blueprints/${encodeURIComponent(id)}/${one}`,
          text: t.blueprint.tabs[one],
          isCurrent: one === tab,
        }))}
      />
      <Suspense fallback={<Loading />}>
        <Tab tab={tab} blueprint={blueprint} />
      </Suspense>
    </Screen>
  );
}

function Tab({ tab, blueprint }: { tab: BlueprintTab; blueprint: BlueprintDetail }) {
  if (tab === 'source') return <SourceTab blueprint={blueprint} />;
  if (tab === 'topology') return <TopologyTab id={blueprint.id} />;
  if (tab === 'uses') return <UsesTab id={blueprint.id} />;
  return <OverviewTab blueprint={blueprint} />;
}

function Actions({ blueprint }: { blueprint: BlueprintDetail }) {
  const { id, state } = blueprint;
  const tenant = useTenant();
  const may = useMay();
  const mayChange = useMayChange();
  const [isDeleting, setDeleting] = useState(false);
  return (
    <>
      {state === 'uploaded' && may('deployment_create') && (
        <Link
          // The router knows no parameters for a path that is built as a string.
          to={`/${encodeURIComponent(tenant)}/deployments/new` as string}
          search={{ blueprint_id: id } as never}
          className={`${buttons.button} ${buttons.main}`}
        >
          <Rocket size={15} aria-hidden="true" /> {t.blueprint.deploy}
        </Link>
      )}
      {may('blueprint_upload') && (
        <Link
          to="/$tenant/blueprints/$id/edit"
          params={{ tenant, id }}
          className={`${buttons.button} ${state === 'invalid' ? buttons.main : ''}`}
        >
          <PenLine size={15} aria-hidden="true" />{' '}
          {state === 'invalid' ? t.blueprint.editInvalid : t.blueprint.edit}
        </Link>
      )}
      {mayChange('blueprint_delete', blueprint) && (
        <Button onClick={() => setDeleting(true)}>
          <Trash2 size={15} aria-hidden="true" /> {t.blueprint.delete}
        </Button>
      )}
      {isDeleting && (
        <Suspense fallback={null}>
          <DeleteDialog blueprint={blueprint} onClose={() => setDeleting(false)} />
        </Suspense>
      )}
    </>
  );
}
