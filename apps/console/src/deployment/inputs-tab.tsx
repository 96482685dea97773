import type { DeploymentDetail } from '../api/deployments';
import { t } from '../text/text';
import { JsonView } from '../ui/json-view';
import { SimpleTable } from '../ui/simple-table';
import { Empty } from '../ui/states';

export function InputsTab({ deployment }: { deployment: DeploymentDetail }) {
  const entries = Object.entries(deployment.inputs);
  if (entries.length === 0) return <Empty title={t.inputs.empty} />;
  return (
    <SimpleTable
      label={t.deployment.tabs.inputs}
      rows={entries}
      keyOf={([name]) => name}
      columns={[
        { name: t.inputs.name, cell: ([name]) => <strong>{name}</strong> },
        { name: t.inputs.value, cell: ([, value]) => <JsonView value={value} /> },
      ]}
    />
  );
}
