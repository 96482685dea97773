/** One event with all its fields, and links to its execution and deployment. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useApi, useTenant } from '../api/api-context';
import { type EventDetail, eventQuery } from '../api/events';
import { lineTone } from '../execution/log-window';
import { t } from '../text/text';
import { Causes } from '../ui/causes';
import { Dialog } from '../ui/dialog';
import { Facts } from '../ui/facts';
import { Empty, Loaded } from '../ui/states';
import { Time } from '../ui/time';
import styles from './events.module.css';

export default function EventDialog({ eventKey, onClose }: { eventKey: string; onClose: () => void }) {
  const { client } = useApi();
  const query = useQuery(eventQuery(client, useTenant(), eventKey));
  return (
    <Dialog title={t.eventList.one} onClose={onClose}>
      <Loaded query={query}>
        {(event) => (event ? <Shown event={event} /> : <Empty title={t.eventList.gone} />)}
      </Loaded>
    </Dialog>
  );
}

function Shown({ event }: { event: EventDetail }) {
  const tenant = useTenant();
  const names = t.eventList.facts;
  return (
    <>
      <pre className={styles.text} data-tone={lineTone({ level: event.level, eventType: event.event_type })}>
        {event.message}
      </pre>
      {event.error_causes && <Causes causes={event.error_causes} />}
      <Facts
        facts={[
          [names.time, <Time key="time" at={event.timestamp} />],
          [names.reported, <Time key="reported" at={event.reported_timestamp} />],
          [names.level, event.level],
          [names.eventType, event.event_type],
          [names.execution, event.execution_id && <ExecutionLink event={event} tenant={tenant} />],
          [
            names.deployment,
            event.deployment_id && (
              <Link to="/$tenant/deployments/$id" params={{ tenant, id: event.deployment_id }}>
                {event.deployment_display_name ?? event.deployment_id}
              </Link>
            ),
          ],
          [names.node, event.node_name],
          [names.instance, event.node_instance_id],
          [names.operation, event.operation],
          [names.relationship, event.source_id && `${event.source_id} → ${event.target_id ?? ''}`],
          [names.logger, event.logger],
          [names.worker, event.agent_name],
        ]}
      />
    </>
  );
}

function ExecutionLink({ event, tenant }: { event: EventDetail; tenant: string }) {
  return (
    <Link
      to="/$tenant/executions/$id/$tab"
      params={{ tenant, id: event.execution_id ?? '', tab: 'log' }}
      search={{ node_instance_id: event.node_instance_id ?? undefined }}
    >
      {event.workflow_id ?? event.execution_id}
    </Link>
  );
}
