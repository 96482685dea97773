import { useQuery } from '@tanstack/react-query';
import { useApi, useTenant } from '../api/api-context';
import { outputsQuery } from '../api/deployments';
import { t } from '../text/text';
import { JsonView } from '../ui/json-view';
import { Panel } from '../ui/panel';
import { SimpleTable } from '../ui/simple-table';
import { Loaded } from '../ui/states';
import styles from './tab.module.css';

export default function OutputsTab({ id, isInstalled }: { id: string; isInstalled: boolean }) {
  const { client } = useApi();
  const query = useQuery(outputsQuery(client, useTenant(), id));
  return (
    <Loaded query={query}>
      {({ outputs, capabilities }) => (
        <div className={styles.stack}>
          {!isInstalled && <p className={styles.quiet}>{t.outputs.notYet}</p>}
          <Values title={t.outputs.outputs} values={outputs} empty={t.outputs.noOutputs} />
          <Values title={t.outputs.capabilities} values={capabilities} empty={t.outputs.noCapabilities} />
        </div>
      )}
    </Loaded>
  );
}

function Values({ title, values, empty }: { title: string; values: Record<string, unknown>; empty: string }) {
  const entries = Object.entries(values);
  return (
    <Panel title={title}>
      {entries.length === 0 ? (
        <p className={styles.quiet}>{empty}</p>
      ) : (
        <SimpleTable
          label={title}
          rows={entries}
          keyOf={([name]) => name}
          columns={[
            { name: t.outputs.name, cell: ([name]) => <strong>{name}</strong> },
            { name: t.outputs.value, cell: ([, value]) => <JsonView value={value} /> },
          ]}
        />
      )}
    </Panel>
  );
}
