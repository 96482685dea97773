/** Runs a workflow. The form is generated from its parameters. */
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useApi, useTenant } from '../api/api-context';
import type { DeploymentDetail, DeploymentWorkflow } from '../api/deployments';
import { startExecution } from '../api/executions';
import type { Schemas } from '../forms/field-spec';
import { InputsEditor } from '../forms/inputs-editor';
import { refusalsOf } from '../forms/server-errors';
import { useInputs } from '../forms/use-inputs';
import { t } from '../text/text';
import { Check, controlClass, Field } from '../ui/field';
import { FormDialog } from '../ui/form-dialog';

/** Most used workflows come first. */
const FIRST = [
  'install',
  'update',
  'heal',
  'scale',
  'execute_operation',
  'check_status',
  'check_drift',
  'uninstall',
];

function usable(deployment: DeploymentDetail): DeploymentWorkflow[] {
  const rank = ({ name }: DeploymentWorkflow) => (FIRST.indexOf(name) + FIRST.length) % FIRST.length;
  return deployment.workflows
    .filter((one): one is DeploymentWorkflow => one.name !== null)
    .sort(
      (a, b) =>
        Number(b.is_available) - Number(a.is_available) || rank(a) - rank(b) || a.name.localeCompare(b.name),
    );
}

const NO_FLAGS = { queue: false, force: false, dry_run: false };

export default function RunDialog({
  deployment,
  onClose,
}: {
  deployment: DeploymentDetail;
  onClose: () => void;
}) {
  const { client } = useApi();
  const tenant = useTenant();
  const navigate = useNavigate();
  const workflows = useMemo(() => usable(deployment), [deployment]);
  const [name, setName] = useState(workflows[0]?.name ?? '');
  const [flags, setFlags] = useState(NO_FLAGS);
  const parameters = (workflows.find((one) => one.name === name)?.parameters ?? {}) as Schemas;
  const form = useInputs({ key: name, schemas: parameters, isParameter: true });
  const start = useMutation({
    mutationFn: async () => {
      const values = await form.read();
      if (values === null) return null;
      return await startExecution(client, tenant, {
        deployment_id: deployment.id,
        workflow_id: name,
        ...(Object.keys(values).length > 0 && { parameters: values }),
        ...flags,
      });
    },
    onSuccess: (started) =>
      started && navigate({ to: '/$tenant/executions/$id', params: { tenant, id: started.id! } }),
  });
  const { errors, isWhole } = refusalsOf(start.error, Object.keys(parameters));
  return (
    <FormDialog
      title={t.run.title(deployment.display_name || deployment.id)}
      submit={t.run.start}
      mutation={{ isPending: start.isPending, error: isWhole ? null : start.error }}
      isIncomplete={name === ''}
      onSubmit={() => start.mutate()}
      onClose={onClose}
    >
      <Field label={t.run.workflow}>
        {(ids) => (
          <select
            {...ids}
            className={controlClass}
            value={name}
            onChange={(event) => {
              setName(event.currentTarget.value);
              start.reset();
            }}
          >
            {workflows.map((one) => (
              <option key={one.name} value={one.name} disabled={!one.is_available}>
                {one.is_available ? one.name : `${one.name} (${t.run.unavailable})`}
              </option>
            ))}
          </select>
        )}
      </Field>
      <InputsEditor key={name} form={form} place={{ deploymentId: deployment.id }} refused={errors} />
      <Flags flags={flags} onChange={setFlags} />
    </FormDialog>
  );
}

type RunFlags = typeof NO_FLAGS;

/** Options that control how the execution runs beside others. */
function Flags({ flags, onChange }: { flags: RunFlags; onChange: (flags: RunFlags) => void }) {
  return (
    <>
      <Check
        label={t.run.queue}
        isChecked={flags.queue}
        onChange={(queue) => onChange({ ...flags, queue })}
      />
      <Check
        label={t.run.force}
        isChecked={flags.force}
        onChange={(force) => onChange({ ...flags, force })}
      />
      <Check
        label={t.run.dryRun}
        isChecked={flags.dry_run}
        onChange={(dry_run) => onChange({ ...flags, dry_run })}
      />
    </>
  );
}
