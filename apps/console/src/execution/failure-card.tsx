import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { CircleAlert } from 'lucide-react';
import { useApi, useTenant } from '../api/api-context';
import { graphQuery } from '../api/executions';
import { t } from '../text/text';
import styles from './notices.module.css';
import { firstFailure, taskRows } from './task-rows';

/** The cause of the failure, shown first: the task that failed first, and its error. */
export function FailureCard({ id, error }: { id: string; error: string }) {
  const { client } = useApi();
  const tenant = useTenant();
  const { data } = useQuery(graphQuery(client, tenant, id));
  const first = data ? firstFailure(taskRows(data)) : null;
  const text = first?.error ?? error;
  if (!text) return null;
  return (
    <section className={styles.failure} aria-label={t.execution.failure}>
      <CircleAlert size={20} aria-hidden="true" />
      <div>
        {first && (
          <h2>
            {t.execution.failedFirst}: {first.name} {first.about}
          </h2>
        )}
        <pre>{text}</pre>
        {first?.instanceId && (
          <Link
            to="/$tenant/executions/$id/$tab"
            params={{ tenant, id, tab: 'log' }}
            search={{ node_instance_id: first.instanceId }}
          >
            {t.execution.showLog}
          </Link>
        )}
      </div>
    </section>
  );
}
