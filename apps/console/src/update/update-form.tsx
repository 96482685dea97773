import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { FormEvent } from 'react';
import { useApi, useTenant } from '../api/api-context';
import type { DeploymentDetail } from '../api/deployments';
import { type PlannedBlueprint, planQuery } from '../api/plans';
import { type DeploymentUpdate, initiateUpdate, updateQuery } from '../api/updates';
import { BlueprintField } from '../deploy/blueprint-field';
import type { Schemas } from '../forms/field-spec';
import { InputsEditor } from '../forms/inputs-editor';
import { refusalsOf } from '../forms/server-errors';
import { useInputs } from '../forms/use-inputs';
import { t } from '../text/text';
import { Button } from '../ui/button';
import { Check } from '../ui/field';
import { Panel } from '../ui/panel';
import cells from '../ui/row-cells.module.css';
import { InlineProblem, Loaded } from '../ui/states';
import { useAddress } from '../ui/use-address';
import styles from './update.module.css';
import { FLAGS, flagsOf, type UpdateSearch } from './update-search';

interface UpdateFormProps {
  deployment: DeploymentDetail;
  /** Inputs of an earlier preview, as initial values. */
  given?: Record<string, unknown>;
  onPreview: (update: DeploymentUpdate, inputs: Record<string, unknown>) => void;
}

export function UpdateForm(props: UpdateFormProps) {
  const { client } = useApi();
  const tenant = useTenant();
  const { search, change } = useAddress<UpdateSearch>();
  const chosen = search.blueprint_id ?? props.deployment.blueprint_id ?? '';
  const query = useQuery({ ...planQuery(client, tenant, chosen), enabled: chosen !== '' });
  return (
    <div className={styles.stack}>
      <Panel>
        <BlueprintField
          chosen={chosen}
          hint={t.update.blueprintHint}
          onChoose={(id) => change({ blueprint_id: id || undefined })}
        />
      </Panel>
      {chosen !== '' && (
        <Loaded query={query}>{(blueprint) => <Chosen {...props} blueprint={blueprint} />}</Loaded>
      )}
    </div>
  );
}

/** Returns the inputs with the current values as defaults: equal values stay unchanged. */
function withValues(inputs: Schemas, values: Record<string, unknown>): Schemas {
  return Object.fromEntries(
    Object.entries(inputs).map(([name, schema]) => [
      name,
      Object.hasOwn(values, name) && values[name] !== null ? { ...schema, default: values[name] } : schema,
    ]),
  );
}

function Chosen({
  deployment,
  given,
  onPreview,
  blueprint,
}: UpdateFormProps & { blueprint: PlannedBlueprint }) {
  const { client } = useApi();
  const tenant = useTenant();
  const cache = useQueryClient();
  const { search, change } = useAddress<UpdateSearch>();
  const schemas = withValues(blueprint.plan.inputs, deployment.inputs);
  const form = useInputs({
    key: blueprint.id,
    schemas,
    dataTypes: blueprint.plan.data_types,
    given,
  });
  const preview = useMutation({
    mutationFn: async () => {
      const inputs = await form.read();
      if (inputs === null) return null;
      const body = { ...flagsOf(search), blueprint_id: blueprint.id, inputs, preview: true };
      return { update: await initiateUpdate(client, tenant, deployment.id, body), inputs };
    },
    // Values of inputs may be secret: they are dropped from memory.
    gcTime: 0,
    onSuccess: (answer) => {
      if (!answer) return;
      const { update, inputs } = answer;
      cache.setQueryData(updateQuery(client, tenant, deployment.id, update.id).queryKey, update);
      onPreview(update, inputs);
    },
  });
  const { errors, isWhole } = refusalsOf(preview.error, Object.keys(schemas));
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!preview.isPending) preview.mutate();
  };
  return (
    <form className={styles.stack} onSubmit={submit} noValidate>
      <Panel title={t.update.inputs}>
        <div className={styles.stack}>
          {form.fields.length > 0 && <p className={cells.quiet}>{t.update.inputsHint}</p>}
          <InputsEditor form={form} place={{ blueprintId: blueprint.id }} refused={errors} />
        </div>
      </Panel>
      <Panel>
        <details open={Object.keys(flagsOf(search)).length > 0 || undefined}>
          <summary>{t.update.options}</summary>
          <div className={styles.flags}>
            {FLAGS.map((flag) => (
              <Check
                key={flag}
                label={t.update.flags[flag]}
                isChecked={search[flag] === true}
                onChange={(isOn) => change({ [flag]: isOn || undefined })}
              />
            ))}
            <Check
              label={t.update.keepPlugins}
              isChecked={search.update_plugins === 'false'}
              onChange={(isOn) => change({ update_plugins: isOn ? 'false' : undefined })}
            />
          </div>
        </details>
      </Panel>
      {!isWhole && <InlineProblem error={preview.error} />}
      <div className={styles.actions}>
        <Button look="main" type="submit" disabled={preview.isPending}>
          {preview.isPending ? t.update.busy : t.update.preview}
        </Button>
      </div>
    </form>
  );
}
