import { useApi, useTenant } from '../api/api-context';
import { executionPageQuery } from '../api/executions';
import { executionColumns } from '../executions/execution-columns';
import { usePollMs } from '../live/live-badge';
import { t } from '../text/text';
import { Empty } from '../ui/states';
import { VirtualList } from '../ui/virtual-list';
import styles from './runs-tab.module.css';

/** Executions of the deployment, newest first. */
export default function RunsTab({ id }: { id: string }) {
  const { client } = useApi();
  const tenant = useTenant();
  const pollMs = usePollMs();
  const query = { deployment_id: id, _sort: ['-created_at', 'id'] };
  return (
    <div className={styles.runs}>
      <VirtualList
        label={t.executions.table}
        columns={executionColumns(tenant).filter((column) => column.id !== 'deployment')}
        page={(offset) => ({ ...executionPageQuery(client, tenant, query, offset), refetchInterval: pollMs })}
        keyOf={(row) => row.id ?? ''}
        resetKey={id}
        empty={<Empty title={t.executions.empty} hint={t.executions.emptyHint} />}
      />
    </div>
  );
}
