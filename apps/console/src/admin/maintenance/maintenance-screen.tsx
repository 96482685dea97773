/** Maintenance mode: on or off, and the executions that it still waits for. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { useApi, useMay, useTenant } from '../../api/api-context';
import { type Maintenance, maintenanceQuery } from '../../api/manager';
import { useChange } from '../../api/use-change';
import { t } from '../../text/text';
import { Badge } from '../../ui/badge';
import { Button } from '../../ui/button';
import { Facts } from '../../ui/facts';
import { Panel } from '../../ui/panel';
import { Screen } from '../../ui/screen';
import { SimpleTable } from '../../ui/simple-table';
import { InlineProblem, Loaded } from '../../ui/states';
import { Time } from '../../ui/time';
import styles from '../admin.module.css';

const ConfirmDialog = lazy(async () => ({
  default: (await import('../../ui/confirm-dialog')).ConfirmDialog,
}));

/** Poll interval. Maintenance starts automatically when the last execution of any tenant ends, and no stream reports this. */
const AGAIN_MS = 5_000;

export function MaintenanceScreen() {
  const { client } = useApi();
  const query = useQuery({
    ...maintenanceQuery(client, useTenant()),
    refetchInterval: ({ state }) => (state.data?.status === 'activating' ? AGAIN_MS : false),
  });
  return (
    <Screen name={t.maintenance.title} side={query.data && <Switch maintenance={query.data} />}>
      <Loaded query={query}>{(maintenance) => <Shown maintenance={maintenance} />}</Loaded>
    </Screen>
  );
}

function Shown({ maintenance }: { maintenance: Maintenance }) {
  const tenant = useTenant();
  const may = useMay();
  const names = t.maintenance;
  const running = (maintenance.remaining_executions ?? []).flat();
  return (
    <div className={styles.stack}>
      <Panel>
        <div className={styles.stack}>
          <p>{names.states[maintenance.status]}</p>
          <Facts
            facts={[
              [names.state, <Badge key="state" status={maintenance.status} />],
              [names.since, maintenance.activated_at && <Time at={maintenance.activated_at} />],
              [
                names.askedAt,
                maintenance.activation_requested_at && <Time at={maintenance.activation_requested_at} />,
              ],
              [names.by, maintenance.requested_by],
            ]}
          />
          {!may('maintenance_mode_set') && <p className={styles.quiet}>{names.may}</p>}
        </div>
      </Panel>
      {running.length > 0 && (
        <SimpleTable
          label={names.running}
          rows={running}
          keyOf={({ id }) => id}
          columns={[
            {
              name: names.execution,
              cell: ({ id, workflow_id }) => (
                <Link to="/$tenant/executions/$id" params={{ tenant, id }}>
                  {workflow_id}
                </Link>
              ),
            },
            { name: names.deployment, cell: ({ deployment_id }) => deployment_id ?? t.executions.system },
            { name: names.status, cell: ({ status }) => <Badge status={status} /> },
          ]}
        />
      )}
    </div>
  );
}

function Switch({ maintenance: { status } }: { maintenance: Maintenance }) {
  const may = useMay();
  const [isAsked, setAsked] = useState(false);
  const activate = useChange(
    ['maintenance'],
    (client, tenant) => client.call('activateMaintenance', { tenant }),
    () => setAsked(false),
  );
  const deactivate = useChange(['maintenance'], (client, tenant) =>
    client.call('deactivateMaintenance', { tenant }),
  );
  if (!may('maintenance_mode_set')) return null;
  if (status !== 'deactivated')
    return (
      <>
        <InlineProblem error={deactivate.error} />
        <Button look="main" disabled={deactivate.isPending} onClick={() => deactivate.mutate()}>
          {t.maintenance.deactivate}
        </Button>
      </>
    );
  return (
    <>
      <Button onClick={() => setAsked(true)}>{t.maintenance.activate}</Button>
      {isAsked && (
        <Suspense fallback={null}>
          <ConfirmDialog
            title={t.maintenance.activateTitle}
            text={t.maintenance.activateText}
            action={t.maintenance.activate}
            mutation={activate}
            onClose={() => setAsked(false)}
          />
        </Suspense>
      )}
    </>
  );
}
