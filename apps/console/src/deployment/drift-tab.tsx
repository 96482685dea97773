import { useQuery } from '@tanstack/react-query';
import type { Drift } from '../api/answers';
import { useApi, useTenant } from '../api/api-context';
import { driftQuery } from '../api/deployments';
import { t } from '../text/text';
import { JsonView } from '../ui/json-view';
import { SimpleTable } from '../ui/simple-table';
import { Empty, Loaded } from '../ui/states';

/** Instances that differ from their expected state, with the result of the last check. */
export default function DriftTab({ id }: { id: string }) {
  const { client } = useApi();
  const query = useQuery(driftQuery(client, useTenant(), id));
  return (
    <Loaded query={query}>
      {({ instances }) =>
        instances.length === 0 ? (
          <Empty title={t.drift.empty} hint={t.drift.emptyHint} />
        ) : (
          <SimpleTable
            label={t.drift.title}
            rows={instances}
            keyOf={(instance) => instance.id}
            columns={[
              { name: t.drift.instance, cell: (instance) => <strong>{instance.id}</strong> },
              { name: t.drift.node, cell: (instance) => instance.node_id },
              { name: t.drift.what, cell: (instance) => <Findings findings={instance.findings} /> },
            ]}
          />
        )
      }
    </Loaded>
  );
}

function Findings({ findings }: { findings: Drift['instances'][number]['findings'] }) {
  return (
    <>
      {findings.map((finding) => (
        <div key={`${finding.of} ${finding.other_instance_id}`}>
          {finding.changes.length === 0 ? (
            <JsonView value={finding.result} />
          ) : (
            <ul>
              {finding.changes.map(({ path, expected, actual }) => (
                <li key={path.join('.')}>
                  <strong>{path.join('.')}</strong>: <del>{JSON.stringify(expected)}</del>{' '}
                  <ins>{JSON.stringify(actual)}</ins>
                </li>
              ))}
            </ul>
          )}
        </div>
      ))}
    </>
  );
}
