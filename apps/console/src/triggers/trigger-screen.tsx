/** One trigger: its address, what it starts, and when it was called. */
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useApi, useMay, useTenant } from '../api/api-context';
import { sessionQuery } from '../api/session';
import { t } from '../text/text';
import { Badge } from '../ui/badge';
import { Copyable } from '../ui/copyable';
import { Facts } from '../ui/facts';
import { Properties } from '../ui/json-view';
import { Notice } from '../ui/notice';
import { ownerFacts } from '../ui/owner-facts';
import { Panel } from '../ui/panel';
import { Permitted } from '../ui/permitted';
import { Screen } from '../ui/screen';
import { type Column, SimpleTable } from '../ui/simple-table';
import { Loaded } from '../ui/states';
import { Time } from '../ui/time';
import { TriggerActions } from './trigger-actions';
import { addressOf } from './trigger-address';
import { isActiveQuery, LISTS_TRIGGERS, type TriggerDetail, triggerQuery } from './triggers';

export function TriggerScreen() {
  const { id } = useParams({ strict: false }) as { id: string };
  return (
    <Permitted permission={LISTS_TRIGGERS}>
      <Read key={id} id={id} />
    </Permitted>
  );
}

function Read({ id }: { id: string }) {
  const { client } = useApi();
  const query = useQuery(triggerQuery(client, useTenant(), id));
  return <Loaded query={query}>{(trigger) => <Shown trigger={trigger} />}</Loaded>;
}

function Shown({ trigger }: { trigger: TriggerDetail }) {
  const { client } = useApi();
  const tenant = useTenant();
  const { data: session } = useQuery(sessionQuery(client));
  const { id } = trigger;
  const isOwn = session?.username === trigger.created_by;
  return (
    <Screen
      name={id}
      title={
        <>
          {id} <Badge status={trigger.is_enabled ? 'enabled' : 'disabled'} />
        </>
      }
      above={
        <Link to="/$tenant/triggers" params={{ tenant }}>
          {t.triggers.title}
        </Link>
      }
      side={<TriggerActions trigger={trigger} isOwn={isOwn} />}
    >
      {!isOwn && <OfOther username={trigger.created_by} />}
      <Panel title={t.triggers.address}>
        <Copyable text={addressOf(trigger.path)} name={t.triggers.address} />
      </Panel>
      <Panel>
        <Facts facts={factsOf(trigger, tenant)} />
      </Panel>
      <Panel title={t.triggers.parameters}>
        <Mapped parameters={trigger.parameters} />
      </Panel>
      <Panel title={t.triggers.fixed}>
        <Properties of={trigger.fixed_parameters} empty={t.triggers.noFixed} />
      </Panel>
    </Screen>
  );
}

/** A trigger of somebody else: who changes it, and whether that user can still start something. */
function OfOther({ username }: { username: string }) {
  const { client } = useApi();
  const may = useMay();
  const { data: isActive } = useQuery({
    ...isActiveQuery(client, useTenant(), username),
    enabled: may('user_get'),
  });
  return (
    <Notice>
      {isActive === false && <p>{t.triggers.inactive(username)}</p>}
      <p>{t.triggers.onlyOwner(username)}</p>
    </Notice>
  );
}

const factsOf = (trigger: TriggerDetail, tenant: string): Parameters<typeof Facts>[0]['facts'] => [
  [
    t.triggers.deployment,
    <Link key="deployment" to="/$tenant/deployments/$id" params={{ tenant, id: trigger.deployment_id }}>
      {trigger.deployment_id}
    </Link>,
  ],
  [t.triggers.workflow, trigger.workflow_id],
  [t.triggers.scheme, t.triggers.schemes[trigger.scheme] ?? trigger.scheme],
  [t.triggers.lastCall, trigger.last_call_at ? <LastCall key="last" trigger={trigger} /> : t.triggers.noCall],
  [
    t.triggers.formerSecret,
    trigger.former_secret_until && <Time key="former" at={trigger.former_secret_until} />,
  ],
  ...ownerFacts(trigger, tenant),
];

function LastCall({ trigger }: { trigger: TriggerDetail }) {
  const tenant = useTenant();
  const { last_execution_id: id } = trigger;
  return (
    <span>
      <Time at={trigger.last_call_at} />
      {id && (
        <>
          {' · '}
          <Link to="/$tenant/executions/$id" params={{ tenant, id }}>
            {t.triggers.execution}
          </Link>
        </>
      )}
    </span>
  );
}

const COLUMNS: Column<[string, string]>[] = [
  { name: t.triggers.parameter, cell: ([name]) => name },
  { name: t.triggers.pointer, cell: ([, pointer]) => <code>{pointer}</code> },
];

function Mapped({ parameters }: { parameters: TriggerDetail['parameters'] }) {
  const rows = Object.entries(parameters);
  if (rows.length === 0) return <p>{t.triggers.noParameters}</p>;
  return <SimpleTable label={t.triggers.parameters} rows={rows} keyOf={([name]) => name} columns={COLUMNS} />;
}
