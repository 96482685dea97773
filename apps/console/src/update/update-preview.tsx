/** Preview of an update, counts first. The update is applied from here. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { useApi, useTenant } from '../api/api-context';
import { nodesQuery } from '../api/deployments';
import { executionQuery } from '../api/executions';
import { type DeploymentUpdate, initiateUpdate } from '../api/updates';
import { t } from '../text/text';
import { Button } from '../ui/button';
import { Check } from '../ui/field';
import { Panel } from '../ui/panel';
import cells from '../ui/row-cells.module.css';
import { Empty, InlineProblem } from '../ui/states';
import { Time } from '../ui/time';
import { useAddress } from '../ui/use-address';
import { changedInputs, type Diff, diffOf, leavesOf } from './diff';
import { DiffTable, ResourceList } from './diff-view';
import styles from './update.module.css';
import { flagsOf, type UpdateSearch } from './update-search';

interface UpdatePreviewProps {
  deploymentId: string;
  update: DeploymentUpdate;
  /** The requested inputs; null: not known any more, so the update's own inputs are used. */
  inputs: Record<string, unknown> | null;
  onReload: () => void;
}

const SHOWN_COUNTS = ['add', 'change', 'replace', 'remove'] as const;

export function UpdatePreview({ deploymentId, update, inputs, onReload }: UpdatePreviewProps) {
  const { search, change } = useAddress<UpdateSearch>();
  if (update.state === 'updating' && !update.changes)
    return <Empty title={t.update.notYet} action={<Button onClick={onReload}>{t.refresh}</Button>} />;
  const diff = diffOf(update.changes ?? []);
  const given = leavesOf('', update.old_inputs, update.new_inputs).map((leaf) => ({
    ...leaf,
    effect: 'none' as const,
  }));
  const isBlueprintSame = update.old_blueprint_id === update.new_blueprint_id;
  const isNothing =
    update.state !== 'failed' && isBlueprintSame && given.length === 0 && (update.changes ?? []).length === 0;
  return (
    <div className={styles.stack}>
      {update.state === 'failed' && <Failure update={update} />}
      <Head update={update} diff={diff} />
      {isNothing && <Empty title={t.update.nothing} hint={t.update.nothingHint} />}
      {given.length > 0 && (
        <Panel title={t.update.changedInputs}>
          <DiffTable label={t.update.changedInputs} lines={given} hasEffect={false} />
        </Panel>
      )}
      <ResourceList resources={diff.resources} isOpen />
      {(update.labels_to_create?.length ?? 0) > 0 && <Labels labels={update.labels_to_create!} />}
      {diff.aside.length > 0 && (
        <section className={styles.stack} aria-label={t.update.aside}>
          <h2>{t.update.aside}</h2>
          <ResourceList resources={diff.aside} isOpen={false} />
        </section>
      )}
      <Check
        label={t.update.showAll}
        isChecked={search.all === true}
        onChange={(all) => change({ all: all || undefined })}
      />
      {search.all && <Unchanged deploymentId={deploymentId} diff={diff} />}
      <Actions deploymentId={deploymentId} update={update} inputs={inputs} />
    </div>
  );
}

function Head({ update, diff }: { update: DeploymentUpdate; diff: Diff }) {
  const { old_blueprint_id: from, new_blueprint_id: to } = update;
  const box = useRef<HTMLDivElement>(null);
  // The preview replaces the form, which was scrolled to its end.
  useEffect(() => {
    box.current?.scrollIntoView({ block: 'center' });
    box.current?.focus({ preventScroll: true });
  }, []);
  const shown = [...SHOWN_COUNTS, ...(diff.counts.refused > 0 ? (['refused'] as const) : [])];
  return (
    <Panel title={t.update.result}>
      <div ref={box} className={styles.stack} tabIndex={-1}>
        <dl className={styles.counts}>
          {shown.map((verdict) => (
            <div key={verdict} data-verdict={diff.counts[verdict] > 0 ? verdict : undefined}>
              <dt>{t.update.counts[verdict]}</dt>
              <dd>{t.number(diff.counts[verdict])}</dd>
            </div>
          ))}
        </dl>
        <p>
          {from === to
            ? t.update.sameBlueprint(to ?? t.none)
            : t.update.blueprintChange(from ?? t.none, to ?? t.none)}{' '}
          <span className={cells.quiet}>
            {t.update.asOf} <Time at={update.created_at} />. {t.update.lost}
          </span>
        </p>
      </div>
    </Panel>
  );
}

/** Shows the error of a failed preview. */
function Failure({ update }: { update: DeploymentUpdate }) {
  const { client } = useApi();
  const tenant = useTenant();
  const id = update.execution_id ?? '';
  const { data } = useQuery({ ...executionQuery(client, tenant, id), enabled: id !== '' });
  return (
    <div className={styles.failure} role="alert">
      <h2>{t.update.failed}</h2>
      {data?.error && <pre>{data.error}</pre>}
    </div>
  );
}

function Labels({ labels }: { labels: Record<string, unknown>[] }) {
  return (
    <Panel title={t.update.newLabels}>
      <ul>
        {labels.map(({ key, value }) => (
          <li key={`${String(key)}=${String(value)}`}>
            <strong>{String(key)}</strong> {String(value)}
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function Unchanged({ deploymentId, diff }: { deploymentId: string; diff: Diff }) {
  const { client } = useApi();
  const { data, error } = useQuery(nodesQuery(client, useTenant(), deploymentId));
  const changed = new Set([...diff.resources, ...diff.aside].map(({ node }) => node));
  const rest = (data?.items ?? []).filter(({ id }) => !changed.has(id));
  return (
    <Panel title={t.update.unchanged}>
      <InlineProblem error={error} />
      {rest.length === 0 ? (
        t.none
      ) : (
        <ul>
          {rest.map(({ id, type }) => (
            <li key={id}>
              <strong>{id}</strong> <span className={cells.quiet}>{type}</span>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

function Actions({ deploymentId, update, inputs }: Omit<UpdatePreviewProps, 'onReload'>) {
  const { client } = useApi();
  const tenant = useTenant();
  const navigate = useNavigate();
  const { search, change } = useAddress<UpdateSearch>();
  const apply = useMutation({
    mutationFn: () =>
      initiateUpdate(client, tenant, deploymentId, {
        ...flagsOf(search),
        blueprint_id: update.new_blueprint_id ?? '',
        inputs: inputs ?? changedInputs(update.old_inputs, update.new_inputs),
      }),
    gcTime: 0,
    onSuccess: async ({ execution_id: id }) => {
      if (id) await navigate({ to: '/$tenant/executions/$id', params: { tenant, id } });
      else await navigate({ to: '/$tenant/deployments/$id', params: { tenant, id: deploymentId } });
    },
  });
  return (
    <>
      <InlineProblem error={apply.error} />
      <div className={styles.actions}>
        <Button onClick={() => change({ preview_id: undefined })}>{t.update.edit}</Button>
        <Button
          look="main"
          disabled={apply.isPending || update.state === 'failed'}
          onClick={() => apply.mutate()}
        >
          {t.update.apply}
        </Button>
      </div>
    </>
  );
}
