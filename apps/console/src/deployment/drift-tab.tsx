import { useQuery } from '@tanstack/react-query';
import type { Drift } from '../api/answers';
import { useApi, useTenant } from '../api/api-context';
import { driftQuery } from '../api/deployments';
import { t } from '../text/text';
import { JsonView } from '../ui/json-view';
import cells from '../ui/row-cells.module.css';
import { SimpleTable } from '../ui/simple-table';
import { Empty, Loaded } from '../ui/states';
import { Time } from '../ui/time';
import { driftLines } from './drift-lines';
import styles from './drift-tab.module.css';

type Drifted = Drift['instances'][number];
type Finding = Drifted['findings'][number];

/** Instances that differ from their expected state: each value as it is expected and as the last check found it. */
export default function DriftTab({ id }: { id: string }) {
  const { client } = useApi();
  const query = useQuery(driftQuery(client, useTenant(), id));
  return (
    <Loaded query={query}>
      {({ instances, total }) =>
        instances.length === 0 ? (
          <Empty title={t.drift.empty} hint={t.drift.emptyHint} />
        ) : (
          <div>
            {total > instances.length && <p className={cells.quiet}>{t.of(instances.length, total)}</p>}
            {instances.map((instance) => (
              <Instance key={instance.id} instance={instance} />
            ))}
          </div>
        )
      }
    </Loaded>
  );
}

function Instance({ instance }: { instance: Drifted }) {
  return (
    <article className={styles.instance} aria-label={instance.id}>
      <div className={styles.title}>
        <h2>{instance.id}</h2>
        <span className={cells.quiet}>{t.drift.ofNode(instance.node_id)}</span>
      </div>
      {instance.findings.map((finding) => (
        <div key={`${finding.of} ${finding.other_instance_id}`} className={styles.finding}>
          {finding.other_instance_id !== null && (
            <h3>{t.drift.relationships[finding.of](finding.other_instance_id)}</h3>
          )}
          <Found finding={finding} of={instance.id} />
          <p className={styles.checked}>
            {t.drift.checkedAt} <Time at={finding.checked_at} />
            {finding.task && ` · ${finding.task}`}
          </p>
        </div>
      ))}
    </article>
  );
}

function Found({ finding, of }: { finding: Finding; of: string }) {
  const lines = driftLines(finding);
  const { columns } = t.drift;
  if (lines.length === 0)
    return (
      <>
        <p className={finding.is_check_failed ? styles.unknown : undefined}>
          {finding.is_check_failed ? t.drift.checkFailed : t.drift.says}
        </p>
        <JsonView value={finding.result} isOpen />
      </>
    );
  return (
    <SimpleTable
      label={t.drift.label(of, finding.other_instance_id)}
      rows={lines}
      keyOf={({ path }) => path}
      columns={[
        { name: columns.path, cell: ({ path }) => <strong>{path || t.update.itself}</strong> },
        { name: columns.expected, cell: ({ expected }) => <Value of={expected} /> },
        {
          name: columns.found,
          cell: ({ found }) => (
            <span className={styles.found}>
              <Value of={found} />
            </span>
          ),
        },
      ]}
    />
  );
}

const Value = ({ of }: { of: unknown }) =>
  of === undefined ? <span className={cells.quiet}>{t.update.absent}</span> : <JsonView value={of} />;
