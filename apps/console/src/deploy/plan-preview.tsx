/** Preview of a deployment of the blueprint: its nodes, and the secrets that they read. */
import { useQuery } from '@tanstack/react-query';
import { useApi, useMay, useTenant } from '../api/api-context';
import { knownSecretsQuery, type PlannedBlueprint } from '../api/plans';
import { t } from '../text/text';
import { Panel } from '../ui/panel';
import cells from '../ui/row-cells.module.css';
import { SimpleTable } from '../ui/simple-table';
import styles from './deploy.module.css';

const MOST_NODES = 30;

export function PlanPreview({ blueprint }: { blueprint: PlannedBlueprint }) {
  const { nodes } = blueprint.plan;
  const instances = nodes.reduce((sum, node) => sum + (node.number_of_instances ?? 1), 0);
  return (
    <Panel title={t.deploy.preview}>
      <div className={styles.stack}>
        {blueprint.description && <p className={styles.description}>{blueprint.description}</p>}
        <p>{t.deploy.previewNodes(nodes.length, instances)}</p>
        {nodes.length > 0 && (
          <SimpleTable
            label={t.deploy.preview}
            rows={nodes.slice(0, MOST_NODES)}
            keyOf={({ id }) => id}
            columns={[
              { name: t.deploy.node, cell: ({ id }) => <strong>{id}</strong> },
              { name: t.deploy.type, cell: ({ type }) => type },
              {
                name: t.deploy.instances,
                isNumber: true,
                cell: ({ number_of_instances: n }) => t.number(n ?? 1),
              },
            ]}
          />
        )}
        {nodes.length > MOST_NODES && (
          <p className={cells.quiet}>{t.deploy.more(nodes.length - MOST_NODES)}</p>
        )}
        <Secrets names={blueprint.plan.secrets} />
      </div>
    </Panel>
  );
}

function Secrets({ names }: { names: readonly string[] }) {
  const { client } = useApi();
  const tenant = useTenant();
  const may = useMay();
  const known = useQuery({
    ...knownSecretsQuery(client, tenant, names),
    enabled: names.length > 0 && may('secret_list'),
  });
  if (names.length === 0) return null;
  const missing = known.data ? names.filter((name) => !known.data.has(name)) : [];
  return (
    <section>
      <h3>{t.deploy.secrets}</h3>
      <ul>
        {names.map((name) => (
          <li key={name}>
            {name} {missing.includes(name) && <span className={cells.bad}>{t.deploy.missingSecret}</span>}
          </li>
        ))}
      </ul>
      {missing.length > 0 && <p className={cells.bad}>{t.deploy.missingSecrets(missing.length)}</p>}
    </section>
  );
}
