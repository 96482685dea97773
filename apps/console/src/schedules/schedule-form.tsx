/** Creates a schedule (`schedule` is null), or changes the times of one. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi, useTenant } from '../api/api-context';
import { problemOf } from '../api/problem';
import { useChange } from '../api/use-change';
import { useSettings } from '../settings/settings';
import { t } from '../text/text';
import { Check } from '../ui/field';
import { FormDialog } from '../ui/form-dialog';
import { AreaField, SelectField, TextField } from '../ui/inputs';
import { useChecked } from '../ui/use-checked';
import { useRested } from '../ui/use-rested';
import { DeploymentField } from './deployment-field';
import { bodyOf, entryOf, faultsOf, keptFields, NEW_TIMING, type TimingEntry } from './schedule-entry';
import {
  changeSchedule,
  createSchedule,
  SCHEDULES,
  type ScheduleDetail,
  workflowNamesQuery,
} from './schedules';
import { TimingFields } from './timing-fields';

interface ScheduleFormProps {
  schedule: ScheduleDetail | null;
  /** Deployment of a new schedule; empty string: the user selects it. */
  deploymentId: string;
  onClose: () => void;
}

export default function ScheduleForm({ schedule, deploymentId, onClose }: ScheduleFormProps) {
  return schedule ? (
    <EditForm schedule={schedule} onClose={onClose} />
  ) : (
    <NewForm deploymentId={deploymentId} onClose={onClose} />
  );
}

function EditForm({ schedule, onClose }: { schedule: ScheduleDetail; onClose: () => void }) {
  const { zone } = useSettings();
  const before = entryOf(schedule, zone);
  const [timing, setTiming] = useState<TimingEntry>(before);
  const save = useChange(
    [SCHEDULES],
    (client, tenant) =>
      changeSchedule(
        client,
        tenant,
        { deployment_id: schedule.deployment_id, id: schedule.id },
        bodyOf(timing, zone),
      ),
    onClose,
  );
  const checked = useChecked(
    () => {
      const kept = keptFields(before, timing).map((field) => [field, t.schedules.form.kept]);
      return { ...Object.fromEntries(kept), ...faultsOf(timing, zone) };
    },
    () => save.mutate(),
  );
  return (
    <FormDialog
      title={t.schedules.form.editOf(schedule.id)}
      submit={t.resource.save}
      mutation={save}
      onClose={onClose}
      {...checked}
    >
      {(errorOf) => <TimingFields timing={timing} onChange={setTiming} errorOf={errorOf} zone={zone} />}
    </FormDialog>
  );
}

function NewForm({ deploymentId, onClose }: { deploymentId: string; onClose: () => void }) {
  const { client } = useApi();
  const tenant = useTenant();
  const { zone } = useSettings();
  const [id, setId] = useState('');
  const [deployment, setDeployment] = useState(deploymentId);
  const [workflow, setWorkflow] = useState('');
  const [parameters, setParameters] = useState('');
  const [timing, setTiming] = useState<TimingEntry>(NEW_TIMING);
  const [isEnabled, setEnabled] = useState(true);
  const typed = useRested(deployment);
  const workflows = useQuery({
    ...workflowNamesQuery(client, tenant, typed),
    enabled: typed !== '',
  });
  const names = workflows.data ?? [];
  const chosen = names.includes(workflow) ? workflow : (names[0] ?? '');
  const create = useChange(
    [SCHEDULES],
    (_, __, values: Record<string, unknown> | null) =>
      createSchedule(
        client,
        tenant,
        { deployment_id: deployment, id },
        { workflow_id: chosen, parameters: values, enabled: isEnabled, ...bodyOf(timing, zone) },
      ),
    onClose,
  );
  const values = readParameters(parameters);
  const checked = useChecked(
    () => ({
      ...(values === undefined && { parameters: t.schedules.faults.json }),
      ...faultsOf(timing, zone),
    }),
    () => create.mutate(values ?? null),
  );
  const texts = t.schedules.form;
  return (
    <FormDialog
      title={t.schedules.create}
      submit={t.schedules.submit}
      mutation={create}
      onClose={onClose}
      {...checked}
      isIncomplete={id === '' || chosen === ''}
    >
      {(errorOf) => (
        <>
          <DeploymentField
            value={deployment}
            onChange={setDeployment}
            error={workflows.error ? problemOf(workflows.error).message : errorOf('deployment_id')}
          />
          <SelectField
            label={t.schedules.workflow}
            value={chosen}
            options={
              names.length > 0 ? names.map((name) => [name, name] as const) : [['', texts.chooseDeployment]]
            }
            onChange={setWorkflow}
            error={errorOf('workflow_id')}
            isDisabled={names.length === 0}
          />
          <TextField
            label={texts.id}
            hint={texts.idHint}
            value={id}
            onChange={setId}
            error={errorOf('schedule_id')}
            isRequired
          />
          <TimingFields timing={timing} onChange={setTiming} errorOf={errorOf} zone={zone} />
          <AreaField
            label={texts.parameters}
            hint={texts.parametersHint}
            value={parameters}
            onChange={setParameters}
            error={errorOf('parameters')}
          />
          <Check label={texts.enabled} isChecked={isEnabled} onChange={setEnabled} />
        </>
      )}
    </FormDialog>
  );
}

/** Returns undefined when the text is not a JSON object; null when it is empty. */
function readParameters(text: string): Record<string, unknown> | null | undefined {
  if (text.trim() === '') return null;
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
