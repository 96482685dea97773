/** One schedule: its next times, and the results of past times. */
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { useApi, useMay, useTenant } from '../api/api-context';
import { useChange } from '../api/use-change';
import { statusText, t } from '../text/text';
import { Badge } from '../ui/badge';
import { Button } from '../ui/button';
import { Facts } from '../ui/facts';
import { Properties } from '../ui/json-view';
import { ownerFacts } from '../ui/owner-facts';
import { Panel } from '../ui/panel';
import { Screen } from '../ui/screen';
import { type Column, SimpleTable } from '../ui/simple-table';
import { InlineProblem, Loaded } from '../ui/states';
import { Time, TimeLeft } from '../ui/time';
import { instantOf, ruleText } from './schedule-entry';
import {
  changeSchedule,
  deleteSchedule,
  occurrencesQuery,
  SCHEDULES,
  type ScheduleDetail,
  scheduleQuery,
} from './schedules';

const ScheduleForm = lazy(() => import('./schedule-form'));
const ConfirmDialog = lazy(async () => ({ default: (await import('../ui/confirm-dialog')).ConfirmDialog }));

/** Number of future times shown. */
const COMING = 10;
/** Maximum of times that the API returns. */
const MOST = 1_000;
/** Number of past times shown. */
const PAST = 100;

export function ScheduleScreen() {
  const { deployment, id } = useParams({ strict: false }) as { deployment: string; id: string };
  const { client } = useApi();
  const query = useQuery(scheduleQuery(client, useTenant(), { deployment_id: deployment, id }));
  return <Loaded query={query}>{(schedule) => <Shown schedule={schedule} />}</Loaded>;
}

function Shown({ schedule }: { schedule: ScheduleDetail }) {
  const tenant = useTenant();
  const { id, deployment_id } = schedule;
  return (
    <Screen
      name={id}
      title={
        <>
          {id} <Badge status={schedule.enabled ? 'enabled' : 'disabled'} />
        </>
      }
      above={
        <Link to="/$tenant/schedules" params={{ tenant }}>
          {t.schedules.title}
        </Link>
      }
      side={<Actions schedule={schedule} />}
    >
      <Panel>
        <Facts
          facts={[
            [t.schedules.rule, ruleText(schedule.rule)],
            [t.schedules.workflow, schedule.workflow_id],
            [
              t.schedules.deployment,
              <Link key="deployment" to="/$tenant/deployments/$id" params={{ tenant, id: deployment_id }}>
                {deployment_id}
              </Link>,
            ],
            [
              t.schedules.last,
              schedule.latest_execution && (
                <Link
                  key="last"
                  to="/$tenant/executions/$id"
                  params={{ tenant, id: schedule.latest_execution }}
                >
                  {statusText(schedule.latest_execution_status)}
                </Link>
              ),
            ],
            [t.schedules.since, schedule.since && <Time key="since" at={schedule.since} />],
            [t.schedules.until, schedule.until && <Time key="until" at={schedule.until} />],
            [t.schedules.slip, t.schedules.minutes(schedule.slip)],
            [t.schedules.stopsOnFail, schedule.stop_on_fail ? t.schedules.stops : t.schedules.goesOn],
            ...ownerFacts(schedule, tenant),
          ]}
        />
      </Panel>
      <Coming schedule={schedule} />
      <Past schedule={schedule} />
      <Panel title={t.schedules.parameters}>
        <Properties of={schedule.parameters ?? {}} empty={t.schedules.noParameters} />
      </Panel>
    </Screen>
  );
}

const COMING_COLUMNS: Column<string>[] = [{ name: t.schedules.time, cell: (at) => <TimeLeft at={at} /> }];

function Coming({ schedule }: { schedule: ScheduleDetail }) {
  const times = schedule.all_next_occurrences.slice(0, COMING).map(instantOf);
  const rest = schedule.all_next_occurrences.length - times.length;
  return (
    <Panel title={t.schedules.coming}>
      {times.length === 0 && <p>{t.schedules.noComing}</p>}
      {times.length > 0 && !schedule.enabled && <p>{t.schedules.comingDisabled}</p>}
      {times.length > 0 && (
        <SimpleTable
          label={t.schedules.comingTable}
          columns={COMING_COLUMNS}
          rows={times}
          keyOf={(at) => at}
        />
      )}
      {rest > 0 && <p>{times.length + rest < MOST ? t.resource.more(rest) : t.schedules.manyMore}</p>}
    </Panel>
  );
}

function Past({ schedule }: { schedule: ScheduleDetail }) {
  const { client } = useApi();
  const tenant = useTenant();
  const query = useQuery(occurrencesQuery(client, tenant, placeOf(schedule)));
  return (
    <Panel title={t.schedules.past}>
      <Loaded query={query}>
        {(past) =>
          past.length === 0 ? (
            <p>{t.schedules.noPast}</p>
          ) : (
            <>
              <SimpleTable
                label={t.schedules.pastTable}
                columns={pastColumns(tenant)}
                rows={past.slice(0, PAST)}
                keyOf={({ occurrence }) => occurrence}
              />
              {past.length > PAST && <p>{t.of(PAST, past.length)}</p>}
            </>
          )
        }
      </Loaded>
    </Panel>
  );
}

type Occurrence = Awaited<ReturnType<NonNullable<ReturnType<typeof occurrencesQuery>['queryFn']>>>[number];

const pastColumns = (tenant: string): Column<Occurrence>[] => [
  { name: t.schedules.time, cell: ({ occurrence }) => <Time at={occurrence} /> },
  { name: t.schedules.outcome, cell: ({ outcome }) => <Badge status={outcome} /> },
  { name: t.schedules.reason, cell: ({ reason }) => reason ?? t.none },
  {
    name: t.schedules.execution,
    cell: ({ execution_id: id }) =>
      id ? (
        <Link to="/$tenant/executions/$id" params={{ tenant, id }}>
          {t.schedules.open}
        </Link>
      ) : (
        t.none
      ),
  },
];

const placeOf = ({ deployment_id, id }: ScheduleDetail) => ({ deployment_id, id });

function Actions({ schedule }: { schedule: ScheduleDetail }) {
  const may = useMay();
  const tenant = useTenant();
  const navigate = useNavigate();
  const [open, setOpen] = useState<'edit' | 'delete' | null>(null);
  const close = (): void => setOpen(null);
  const place = placeOf(schedule);
  const able = useChange([SCHEDULES], (client) =>
    changeSchedule(client, tenant, place, { enabled: !schedule.enabled }),
  );
  const remove = useChange(
    [SCHEDULES],
    (client) => deleteSchedule(client, tenant, place),
    () => navigate({ to: '/$tenant/schedules', params: { tenant } }),
  );
  if (!may('execution_schedule_create') || schedule.tenant_name !== tenant) return null;
  return (
    <>
      <InlineProblem error={able.error} />
      <Button disabled={able.isPending} onClick={() => able.mutate()}>
        {schedule.enabled ? t.schedules.disable : t.schedules.enable}
      </Button>
      <Button onClick={() => setOpen('edit')}>{t.resource.edit}</Button>
      <Button onClick={() => setOpen('delete')}>{t.resource.delete}</Button>
      <Suspense fallback={null}>
        {open === 'edit' && (
          <ScheduleForm schedule={schedule} deploymentId={schedule.deployment_id} onClose={close} />
        )}
        {open === 'delete' && (
          <ConfirmDialog
            title={t.schedules.deleteOf(schedule.id)}
            text={t.schedules.deleteText(schedule.deployment_id)}
            action={t.schedules.deleteSubmit}
            mutation={remove}
            onClose={close}
          />
        )}
      </Suspense>
    </>
  );
}
