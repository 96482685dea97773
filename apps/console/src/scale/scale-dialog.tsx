/** Scales a group or node to a requested number of instances. Shows the current numbers and the effect. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useApi, useTenant } from '../api/api-context';
import { type DeploymentDetail, instancesQuery } from '../api/deployments';
import { startExecution } from '../api/executions';
import { scalablesQuery } from '../api/scaling';
import { t } from '../text/text';
import { Check, controlClass, Field } from '../ui/field';
import { FormDialog } from '../ui/form-dialog';
import { TextField } from '../ui/inputs';
import { Loaded } from '../ui/states';
import { type Scalable, wishOf } from './scalables';
import styles from './scale.module.css';

interface ScaleDialogProps {
  deployment: DeploymentDetail;
  onClose: () => void;
}

const OPTIONS = {
  scale_compute: false,
  ignore_failure: false,
  rollback_if_failed: true,
  abort_started: false,
};

export default function ScaleDialog({ deployment, onClose }: ScaleDialogProps) {
  const { client } = useApi();
  const tenant = useTenant();
  const navigate = useNavigate();
  const query = useQuery(scalablesQuery(client, tenant, deployment.id));
  const [name, setName] = useState<string | null>(null);
  const [text, setText] = useState<string | null>(null);
  const [options, setOptions] = useState(OPTIONS);
  const [first, setFirst] = useState<readonly string[]>([]);
  const scalable = query.data?.find((one) => one.name === name) ?? query.data?.[0];
  const wanted = text ?? String(scalable?.now ?? '');
  const wish = scalable ? wishOf(wanted, scalable) : null;
  const start = useMutation({
    mutationFn: () =>
      startExecution(client, tenant, {
        deployment_id: deployment.id,
        workflow_id: 'scale',
        parameters: {
          scalable_entity_name: scalable!.name,
          delta: wish!.delta!,
          ...options,
          ...(first.length > 0 && wish!.delta! < 0 && { include_instances: [...first] }),
        },
      }),
    onSuccess: ({ id }) => navigate({ to: '/$tenant/executions/$id', params: { tenant, id: id! } }),
  });
  return (
    <FormDialog
      title={t.scale.title(deployment.display_name || deployment.id)}
      submit={t.scale.submit}
      mutation={start}
      isIncomplete={!wish?.delta}
      onSubmit={() => start.mutate()}
      onClose={onClose}
    >
      <Loaded query={query}>
        {(scalables) =>
          scalables.length === 0 || !scalable ? (
            <p>{t.scale.none}</p>
          ) : (
            <>
              <EntityField
                scalables={scalables}
                chosen={scalable}
                onChange={(next) => {
                  setName(next);
                  setText(null);
                  setFirst([]);
                }}
              />
              <TextField
                label={t.scale.wanted}
                hint={[
                  t.scale.bounds(scalable.least, scalable.most),
                  wish?.isOutOfBounds && t.scale.outOfBounds,
                ]
                  .filter(Boolean)
                  .join(' ')}
                error={wish?.error ?? null}
                inputMode="numeric"
                value={wanted}
                onChange={setText}
              />
              <p role="status" className={styles.wish}>
                {wish?.words}
              </p>
              {wish !== null && (wish.delta ?? 0) < 0 && scalable.kind === 'node' && (
                <FirstToGo
                  deploymentId={deployment.id}
                  node={scalable.name}
                  chosen={first}
                  onChange={setFirst}
                />
              )}
              <Options scalable={scalable} options={options} onChange={setOptions} />
            </>
          )
        }
      </Loaded>
    </FormDialog>
  );
}

interface EntityFieldProps {
  scalables: readonly Scalable[];
  chosen: Scalable;
  onChange: (name: string) => void;
}

function EntityField({ scalables, chosen, onChange }: EntityFieldProps) {
  const options = (kind: Scalable['kind']) =>
    scalables
      .filter((one) => one.kind === kind)
      .map((one) => (
        <option key={one.name} value={one.name}>
          {t.scale.option(one.name, one.now)}
        </option>
      ));
  const hint = chosen.members.length > 0 ? t.scale.members(chosen.members.join(', ')) : null;
  return (
    <Field label={t.scale.entity} hint={hint}>
      {(ids) => (
        <select
          {...ids}
          className={controlClass}
          value={chosen.name}
          onChange={(event) => onChange(event.currentTarget.value)}
        >
          {scalables.some(({ kind }) => kind === 'group') && (
            <optgroup label={t.scale.groups}>{options('group')}</optgroup>
          )}
          <optgroup label={t.scale.nodes}>{options('node')}</optgroup>
        </select>
      )}
    </Field>
  );
}

interface FirstToGoProps {
  deploymentId: string;
  node: string;
  chosen: readonly string[];
  onChange: (chosen: readonly string[]) => void;
}

/** Selects the instances to remove first. */
function FirstToGo({ deploymentId, node, chosen, onChange }: FirstToGoProps) {
  const { client } = useApi();
  const query = useQuery(
    instancesQuery(client, useTenant(), deploymentId, { node_id: node, _sort: 'index' }),
  );
  return (
    <fieldset className={styles.instances}>
      <legend>{t.scale.first}</legend>
      <Loaded query={query}>
        {({ items }) => (
          <>
            {items.map(({ id }) => (
              <Check
                key={id}
                label={id}
                isChecked={chosen.includes(id)}
                onChange={(isOn) => onChange(isOn ? [...chosen, id] : chosen.filter((one) => one !== id))}
              />
            ))}
          </>
        )}
      </Loaded>
      <p className={styles.hint}>{t.scale.firstHint}</p>
    </fieldset>
  );
}

interface OptionsProps {
  scalable: Scalable;
  options: typeof OPTIONS;
  onChange: (options: typeof OPTIONS) => void;
}

function Options({ scalable, options, onChange }: OptionsProps) {
  const check = (name: keyof typeof OPTIONS, label: string) => (
    <Check
      label={label}
      isChecked={options[name]}
      onChange={(isOn) => onChange({ ...options, [name]: isOn })}
    />
  );
  return (
    <details>
      <summary>{t.scale.options}</summary>
      <div className={styles.options}>
        {scalable.isContained && check('scale_compute', t.scale.compute)}
        {check('rollback_if_failed', t.scale.rollback)}
        {check('ignore_failure', t.scale.ignoreFailure)}
        {check('abort_started', t.scale.abort)}
      </div>
    </details>
  );
}
