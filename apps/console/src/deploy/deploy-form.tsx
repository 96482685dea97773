import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useApi, useMay, useTenant } from '../api/api-context';
import { startExecution } from '../api/executions';
import { isTakenQuery, type PlannedBlueprint, siteNamesQuery } from '../api/plans';
import { problemOf } from '../api/problem';
import { InputsEditor } from '../forms/inputs-editor';
import { refusalsOf } from '../forms/server-errors';
import { useInputs } from '../forms/use-inputs';
import { labelsToSend } from '../labels/label-drafts';
import { LabelsEditor } from '../labels/labels-editor';
import { t } from '../text/text';
import { Button } from '../ui/button';
import { Check } from '../ui/field';
import { SelectField, TextField } from '../ui/inputs';
import { Panel } from '../ui/panel';
import { InlineProblem } from '../ui/states';
import { useRested } from '../ui/use-rested';
import { VisibilityField } from '../ui/visibility';
import styles from './deploy.module.css';
import {
  beginningOf,
  deploymentErrors,
  hasErrors,
  isId,
  type NewDeployment,
  type NewDeploymentErrors,
} from './new-deployment';
import { PlanPreview } from './plan-preview';

const REST_MS = 250;

export function DeployForm({ blueprint }: { blueprint: PlannedBlueprint }) {
  const { client } = useApi();
  const tenant = useTenant();
  const navigate = useNavigate();
  const may = useMay();
  const [wanted, setWanted] = useState(() => beginningOf(blueprint.visibility));
  const [isAsked, setAsked] = useState(false);
  const { inputs: schemas, data_types: dataTypes } = blueprint.plan;
  const form = useInputs({ key: blueprint.id, schemas, dataTypes });
  const isTaken = useIsTaken(wanted.id);
  const own = deploymentErrors(wanted, isTaken);
  const isInstalled = wanted.isInstalled && may('execution_start');

  const install = useMutation({
    mutationFn: (id: string) => startExecution(client, tenant, { deployment_id: id, workflow_id: 'install' }),
    onSuccess: ({ id }) => navigate({ to: '/$tenant/executions/$id', params: { tenant, id: id! } }),
  });
  const create = useMutation({
    mutationFn: async () => {
      const values = await form.read();
      if (values === null || hasErrors(own)) return null;
      return await client.call('createDeployment', {
        tenant,
        params: { id: wanted.id },
        query: { _include: 'id' },
        body: bodyOf(wanted, blueprint.id, values),
      });
    },
    // Values of inputs may be secret: they are dropped from memory.
    gcTime: 0,
    onSuccess: async (made) => {
      if (!made) return;
      if (isInstalled) install.mutate(made.id);
      else await navigate({ to: '/$tenant/deployments/$id', params: { tenant, id: made.id } });
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setAsked(true);
    if (!create.isPending && !install.isPending) create.mutate();
  };
  const { errors, isWhole } = refusalsOf(create.error, Object.keys(schemas));
  const refused = refusedField(create.error);
  if (create.data && install.error) return <CreatedOnly id={create.data.id} install={install} />;
  return (
    <>
      <form className={styles.stack} onSubmit={submit} noValidate>
        <Names
          wanted={wanted}
          // "Required" errors are hidden until the user has tried to submit.
          errors={shownErrors(own, isAsked || wanted.id !== '', refused)}
          onChange={(part) => setWanted((before) => ({ ...before, ...part }))}
        />
        <Panel title={t.deploy.inputs}>
          <InputsEditor form={form} place={{ blueprintId: blueprint.id }} refused={errors} />
        </Panel>
        <Panel>
          <div className={styles.submit}>
            {may('execution_start') ? (
              <Check
                label={t.deploy.install}
                isChecked={wanted.isInstalled}
                onChange={(on) => setWanted((before) => ({ ...before, isInstalled: on }))}
              />
            ) : (
              <span />
            )}
            <Button look="main" type="submit" disabled={create.isPending || install.isPending}>
              {create.isPending ? t.deploy.busy : isInstalled ? t.deploy.submitInstall : t.deploy.submit}
            </Button>
          </div>
          {!isWhole && !refused && <InlineProblem error={create.error} />}
        </Panel>
      </form>
      <PlanPreview blueprint={blueprint} />
    </>
  );
}

/** Sends the request a moment after the last key press. */
function useIsTaken(id: string): boolean {
  const { client } = useApi();
  const tenant = useTenant();
  const rested = useRested(id, REST_MS);
  const { data } = useQuery({ ...isTakenQuery(client, tenant, rested), enabled: isId(rested) });
  return rested === id && data === true;
}

const bodyOf = (wanted: NewDeployment, blueprintId: string, inputs: Record<string, unknown>) => ({
  blueprint_id: blueprintId,
  inputs,
  visibility: wanted.visibility,
  labels: labelsToSend(wanted.labels),
  ...(wanted.displayName.trim() !== '' && { display_name: wanted.displayName.trim() }),
  ...(wanted.site !== '' && { site_name: wanted.site }),
  ...(wanted.skipsPlugins && { skip_plugins_validation: true }),
  ...(wanted.isRuntimeOnly && { runtime_only_evaluation: true }),
});

/** Returns the refused field of the request body, if the first panel shows it. */
function refusedField(error: unknown): { field: string; message: string } | null {
  if (!error) return null;
  const { details, message } = problemOf(error);
  const field = String(details.field ?? '').replace(/\[.*$/, '');
  return ['id', 'display_name', 'labels', 'site_name', 'visibility'].includes(field)
    ? { field, message }
    : null;
}

type ShownErrors = Readonly<Record<string, string | undefined>> & { rows: Readonly<Record<number, string>> };

function shownErrors(
  own: NewDeploymentErrors,
  isShown: boolean,
  refused: { field: string; message: string } | null,
): ShownErrors {
  const said = isShown ? { id: own.id, display_name: own.display_name } : {};
  return { ...(refused && { [refused.field]: refused.message }), ...said, rows: own.labels } as ShownErrors;
}

interface NamesProps {
  wanted: NewDeployment;
  errors: ShownErrors;
  onChange: (part: Partial<NewDeployment>) => void;
}

function Names({ wanted, errors, onChange }: NamesProps) {
  const { client } = useApi();
  const tenant = useTenant();
  const may = useMay();
  const sites = useQuery({ ...siteNamesQuery(client, tenant), enabled: may('site_list') });
  return (
    <Panel title={t.deploy.name}>
      <div className={styles.stack}>
        <div className={styles.pair}>
          <TextField
            label={t.deploy.id}
            hint={t.deploy.idHint}
            error={errors.id ?? null}
            isRequired
            value={wanted.id}
            onChange={(id) => onChange({ id })}
          />
          <TextField
            label={t.deploy.displayName}
            hint={t.deploy.displayNameHint}
            error={errors.display_name ?? null}
            value={wanted.displayName}
            onChange={(displayName) => onChange({ displayName })}
          />
        </div>
        <div className={styles.pair}>
          <VisibilityField
            value={wanted.visibility}
            error={errors.visibility ?? null}
            onChange={(visibility) => onChange({ visibility })}
          />
          {(sites.data?.length ?? 0) > 0 && (
            <SelectField
              label={t.deploy.site}
              error={errors.site_name ?? null}
              value={wanted.site}
              options={[['', t.deploy.noSite], ...sites.data!.map((name) => [name, name] as const)]}
              onChange={(site) => onChange({ site })}
            />
          )}
        </div>
        <LabelsEditor
          of="deployments"
          drafts={wanted.labels}
          errors={errors.rows}
          onChange={(labels) => onChange({ labels })}
        />
        {errors.labels && <p role="alert">{errors.labels}</p>}
        <details>
          <summary>{t.deploy.options}</summary>
          <div className={styles.stack}>
            <Check
              label={t.deploy.skipPlugins}
              isChecked={wanted.skipsPlugins}
              onChange={(skipsPlugins) => onChange({ skipsPlugins })}
            />
            <Check
              label={t.deploy.runtimeOnly}
              isChecked={wanted.isRuntimeOnly}
              onChange={(isRuntimeOnly) => onChange({ isRuntimeOnly })}
            />
          </div>
        </details>
      </div>
    </Panel>
  );
}

/** Shown when the deployment was created but its installation was refused: creating it again is impossible. */
function CreatedOnly({
  id,
  install,
}: {
  id: string;
  install: { mutate: (id: string) => void; isPending: boolean; error: unknown };
}) {
  const tenant = useTenant();
  return (
    <Panel>
      <div className={styles.stack}>
        <p role="status">{t.deploy.createdOnly(id)}</p>
        <InlineProblem error={install.error} />
        <div className={styles.submit}>
          <Link to="/$tenant/deployments/$id" params={{ tenant, id }}>
            {t.deploy.openIt}
          </Link>
          <Button disabled={install.isPending} onClick={() => install.mutate(id)}>
            {t.deploy.tryInstall}
          </Button>
        </div>
      </div>
    </Panel>
  );
}
