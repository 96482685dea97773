import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { useApi, useTenant } from '../api/api-context';
import { type BlueprintDetail, type BlueprintPlan, isUploading, planQuery } from '../api/blueprints';
import { t } from '../text/text';
import { Button } from '../ui/button';
import { Facts } from '../ui/facts';
import { JsonView } from '../ui/json-view';
import { Labels } from '../ui/labels';
import { Panel } from '../ui/panel';
import cells from '../ui/row-cells.module.css';
import { SimpleTable } from '../ui/simple-table';
import { Loaded, Loading } from '../ui/states';
import { Time } from '../ui/time';
import { useMayChange, VisibilityText } from '../ui/visibility';
import styles from './overview-tab.module.css';
import { type UploadProblem, uploadProblems } from './upload-problems';

const IconDialog = lazy(() => import('./icon-dialog'));
const LabelsDialog = lazy(() => import('./labels-dialog'));
const WidenDialog = lazy(() => import('./widen-dialog'));

export function OverviewTab({ blueprint }: { blueprint: BlueprintDetail }) {
  return (
    <div className={styles.stack}>
      {blueprint.error !== null && <Failure blueprint={blueprint} />}
      <About blueprint={blueprint} />
      {isUploading(blueprint.state) && (
        <p role="status" className={cells.quiet}>
          {t.blueprint.working}
        </p>
      )}
      {blueprint.state === 'uploaded' && <Plan id={blueprint.id} />}
    </div>
  );
}

/** The reasons of a failed upload: each problem with its place, which links to the line. */
function Failure({ blueprint }: { blueprint: BlueprintDetail }) {
  const problems = uploadProblems(blueprint.error_traceback);
  return (
    <section className={styles.failed}>
      <h2>{t.blueprint.failed}</h2>
      {problems.length === 0 && <p>{blueprint.error}</p>}
      <p>{t.blueprint.failedHint}</p>
      {problems.length > 0 && (
        <ol className={styles.problems} aria-label={t.blueprint.problems(problems.length)}>
          {problems.map((problem) => (
            <li key={`${problem.file} ${problem.line} ${problem.column} ${problem.message}`}>
              <Problem id={blueprint.id} problem={problem} />
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}

function Problem({ id, problem }: { id: string; problem: UploadProblem }) {
  const tenant = useTenant();
  const { file, line, column, message, nearest, severity } = problem;
  return (
    <>
      {file !== null && (
        <span className={styles.place}>
          {line === null ? (
            file
          ) : (
            <Link
              to="/$tenant/blueprints/$id/$tab"
              params={{ tenant, id, tab: 'source' }}
              search={{ file, line } as never}
            >
              {file} {t.blueprint.at(line, column ?? 1)}
            </Link>
          )}
        </span>
      )}
      {severity === 'warning' && <span className={styles.warning}>{t.blueprint.warning} </span>}
      {message}
      {nearest !== null && <span className={styles.hint}>{t.blueprint.nearest(nearest)}</span>}
    </>
  );
}

function About({ blueprint }: { blueprint: BlueprintDetail }) {
  const [open, setOpen] = useState<'labels' | 'widen' | 'icon' | null>(null);
  const may = useMayChange();
  const close = (): void => setOpen(null);
  return (
    <Panel>
      {blueprint.description && <p className={styles.description}>{blueprint.description}</p>}
      <Facts
        facts={[
          [t.blueprint.mainFile, blueprint.main_file_name],
          [
            t.blueprint.created,
            <>
              <Time at={blueprint.created_at} /> {t.blueprint.by} {blueprint.created_by}
            </>,
          ],
          [t.blueprint.updated, <Time key="updated" at={blueprint.updated_at} />],
          [
            t.blueprint.visibility,
            <span key="visibility" className={styles.row}>
              <VisibilityText of={blueprint.visibility} />
              {blueprint.visibility !== 'global' && may('resource_set_visibility', blueprint) && (
                <Button onClick={() => setOpen('widen')}>{t.blueprint.widen}</Button>
              )}
            </span>,
          ],
          [
            t.blueprint.labels,
            <span key="labels" className={styles.row}>
              {blueprint.labels.length > 0 ? <Labels labels={blueprint.labels} /> : t.blueprint.noLabels}
              {blueprint.state === 'uploaded' && may('blueprint_upload', blueprint) && (
                <Button onClick={() => setOpen('labels')}>{t.blueprint.editLabels}</Button>
              )}
            </span>,
          ],
          [
            t.blueprint.icon,
            may('blueprint_upload', blueprint) ? (
              <span key="icon" className={styles.row}>
                {!blueprint.has_icon && t.blueprint.noIcon}
                <Button onClick={() => setOpen('icon')}>{t.blueprint.changeIcon}</Button>
              </span>
            ) : null,
          ],
        ]}
      />
      <Suspense fallback={null}>
        {open === 'icon' && <IconDialog blueprint={blueprint} onClose={close} />}
        {open === 'labels' && <LabelsDialog id={blueprint.id} labels={blueprint.labels} onClose={close} />}
        {open === 'widen' && (
          <WidenDialog id={blueprint.id} visibility={blueprint.visibility} onClose={close} />
        )}
      </Suspense>
    </Panel>
  );
}

function Plan({ id }: { id: string }) {
  const { client } = useApi();
  const query = useQuery(planQuery(client, useTenant(), id));
  if (query.isPending) return <Loading />;
  return (
    <Loaded query={query}>
      {({ inputs = {}, outputs = {}, capabilities = {} }) => (
        <>
          <Panel title={t.blueprint.inputs}>
            <Inputs inputs={inputs} />
          </Panel>
          <Panel title={t.blueprint.outputs}>
            <Declared label={t.blueprint.outputs} values={outputs} />
          </Panel>
          {Object.keys(capabilities).length > 0 && (
            <Panel title={t.blueprint.capabilities}>
              <Declared label={t.blueprint.capabilities} values={capabilities} />
            </Panel>
          )}
        </>
      )}
    </Loaded>
  );
}

interface DeclaredInput {
  type?: unknown;
  default?: unknown;
  description?: unknown;
}

function Inputs({ inputs }: { inputs: NonNullable<BlueprintPlan['inputs']> }) {
  const rows = Object.entries(inputs) as [string, DeclaredInput | null][];
  if (rows.length === 0) return <p className={cells.quiet}>{t.blueprint.noInputs}</p>;
  return (
    <SimpleTable
      label={t.blueprint.inputs}
      rows={rows}
      keyOf={([name]) => name}
      columns={[
        { name: t.blueprint.input, cell: ([name]) => <strong>{name}</strong> },
        {
          name: t.blueprint.type,
          cell: ([, input]) => (typeof input?.type === 'string' ? input.type : t.blueprint.anyType),
        },
        {
          name: t.blueprint.default,
          cell: ([, input]) =>
            input && 'default' in input ? <JsonView value={input.default} /> : t.blueprint.required,
        },
        {
          name: t.blueprint.about,
          cell: ([, input]) => (typeof input?.description === 'string' ? input.description : ''),
        },
      ]}
    />
  );
}

function Declared({ label, values }: { label: string; values: Record<string, unknown> }) {
  const rows = Object.entries(values) as [string, { value?: unknown; description?: unknown } | null][];
  if (rows.length === 0) return <p className={cells.quiet}>{t.blueprint.noOutputs}</p>;
  return (
    <SimpleTable
      label={label}
      rows={rows}
      keyOf={([name]) => name}
      columns={[
        { name: t.blueprint.output, cell: ([name]) => <strong>{name}</strong> },
        { name: t.blueprint.value, cell: ([, one]) => <JsonView value={one?.value ?? null} /> },
        {
          name: t.blueprint.about,
          cell: ([, one]) => (typeof one?.description === 'string' ? one.description : ''),
        },
      ]}
    />
  );
}
