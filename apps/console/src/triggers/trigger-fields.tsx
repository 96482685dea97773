/** Fields of what a trigger starts: deployment, workflow, parameters. */
import { useQuery } from '@tanstack/react-query';
import { useApi, useTenant } from '../api/api-context';
import { problemOf } from '../api/problem';
import { DeploymentField } from '../schedules/deployment-field';
import { t } from '../text/text';
import type { ErrorOf } from '../ui/form-dialog';
import { AreaField, SelectField } from '../ui/inputs';
import { PairRows } from '../ui/pair-rows';
import { useRested } from '../ui/use-rested';
import type { TriggerEntry } from './trigger-entry';
import { workflowsQuery } from './workflows';

interface Workflows {
  /** The workflow of the entry; the first one of the deployment until somebody has chosen one. */
  chosen: string;
  names: readonly string[];
  /** Parameters of the chosen workflow. */
  parameters: readonly string[];
  error: unknown;
}

/** Workflows of the deployment that somebody has typed. */
export function useWorkflows({ deploymentId, workflowId }: TriggerEntry): Workflows {
  const { client } = useApi();
  const typed = useRested(deploymentId);
  const query = useQuery({ ...workflowsQuery(client, useTenant(), typed), enabled: typed !== '' });
  const all = query.data ?? [];
  const names = all.map(({ name }) => name);
  const chosen = workflowId || (names[0] ?? '');
  return {
    chosen,
    // One that the deployment has no more stays what it is, until somebody chooses another one.
    names: chosen === '' || names.includes(chosen) ? names : [chosen, ...names],
    parameters: all.find(({ name }) => name === chosen)?.parameters ?? [],
    error: query.error,
  };
}

interface TriggerFieldsProps {
  entry: TriggerEntry;
  workflows: Workflows;
  onChange: (entry: TriggerEntry) => void;
  errorOf: ErrorOf;
}

export function TriggerFields({ entry, workflows, onChange, errorOf }: TriggerFieldsProps) {
  const { names, chosen, error } = workflows;
  const texts = t.triggers.form;
  const set = (part: Partial<TriggerEntry>): void => onChange({ ...entry, ...part });
  return (
    <>
      <DeploymentField
        value={entry.deploymentId}
        onChange={(deploymentId) => set({ deploymentId, workflowId: '' })}
        error={error ? problemOf(error).message : errorOf('deployment_id')}
      />
      <SelectField
        label={t.triggers.workflow}
        value={chosen}
        options={
          names.length > 0
            ? names.map((name) => [name, name] as const)
            : [['', t.schedules.form.chooseDeployment]]
        }
        onChange={(workflowId) => set({ workflowId })}
        error={errorOf('workflow_id')}
        isDisabled={names.length === 0}
      />
      <PairRows
        label={t.triggers.parameters}
        hint={texts.parametersHint}
        names={[t.triggers.parameter, t.triggers.pointer]}
        rows={entry.parameters}
        onChange={(parameters) => set({ parameters })}
        addText={texts.addParameter}
        suggestions={workflows.parameters}
        error={errorOf('parameters')}
        rowError={(at) => errorOf(`parameters[${at}]`) ?? errorOf(`parameters.${entry.parameters[at]![0]}`)}
      />
      <AreaField
        label={texts.fixed}
        hint={texts.fixedHint}
        value={entry.fixed}
        onChange={(fixed) => set({ fixed })}
        error={errorOf('fixed_parameters')}
      />
    </>
  );
}
