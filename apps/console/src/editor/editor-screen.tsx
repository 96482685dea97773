/** Editor of blueprints: files of an archive, their problems, and their topology, updated during typing. */
import { useQuery } from '@tanstack/react-query';
import { Link, useBlocker, useParams } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { useApi, useMay, useTenant } from '../api/api-context';
import { type BlueprintDetail, blueprintQuery, mainFileOf, openArchive } from '../api/blueprints';
import { bytesText } from '../text/bytes';
import { t } from '../text/text';
import { Button } from '../ui/button';
import { Screen } from '../ui/screen';
import { Empty, Loaded, Loading, ProblemView } from '../ui/states';
import { ArchiveTooLarge, EDITOR_BOUNDS, readArchive } from './archive';
import { idAfter } from './id-after';
import { newProject } from './new-project';
import { type Project, projectOf } from './project';
import { Workspace } from './workspace';
import styles from './workspace.module.css';

const ConfirmDialog = lazy(() =>
  import('../ui/confirm-dialog').then((module) => ({ default: module.ConfirmDialog })),
);
const SaveDialog = lazy(() => import('./save-dialog'));

export function NewBlueprintScreen() {
  return <Editor name={t.editor.newTitle} opened={newProject} from={null} />;
}

export function EditBlueprintScreen() {
  const { id } = useParams({ strict: false }) as { id: string };
  const { client } = useApi();
  const query = useQuery(blueprintQuery(client, useTenant(), id));
  return <Loaded query={query}>{(blueprint) => <Opened key={id} blueprint={blueprint} />}</Loaded>;
}

/** Reads the archive once. Afterwards the page holds the user's version: changes at the manager do not overwrite it. */
function Opened({ blueprint }: { blueprint: BlueprintDetail }) {
  const { client } = useApi();
  const tenant = useTenant();
  const { id } = blueprint;
  const query = useQuery({
    queryKey: ['archive', tenant, id],
    queryFn: async ({ signal }) =>
      projectOf(mainFileOf(blueprint), await readArchive(await openArchive(client, tenant, id, signal))),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
  });
  if (query.error) return <Unopened error={query.error} onRetry={() => void query.refetch()} />;
  if (!query.data) return <Loading />;
  return <Editor name={t.editor.title(id)} opened={query.data} from={blueprint} />;
}

function Unopened({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  if (error instanceof ArchiveTooLarge)
    return (
      <Empty
        title={t.editor.tooLarge}
        hint={t.editor.tooLargeHint(bytesText(EDITOR_BOUNDS.mostBytes), EDITOR_BOUNDS.mostFiles)}
      />
    );
  return <ProblemView error={error} onRetry={onRetry} />;
}

interface EditorProps {
  name: string;
  opened: Project;
  /** The blueprint that was opened; null: a new one. */
  from: BlueprintDetail | null;
}

function Editor({ name, opened, from }: EditorProps) {
  const tenant = useTenant();
  const mayUpload = useMay()('blueprint_upload');
  const [project, setProject] = useState(opened);
  const [saving, setSaving] = useState<{ isValid: boolean } | null>(null);
  const isLeavable = useRef(false);
  const isDirty = project !== opened;
  const blocked = useLeaving(isDirty, isLeavable);
  const [isValid, setValid] = useState(false);
  const save = (): void => {
    if (mayUpload) setSaving({ isValid });
  };
  return (
    <Screen
      name={name}
      above={
        <Link
          to={from ? '/$tenant/blueprints/$id/$tab' : '/$tenant/blueprints'}
          params={{ tenant, id: from?.id ?? '', tab: 'overview' } as never}
        >
          {from ? t.editor.back(from.id) : t.blueprint.back}
        </Link>
      }
      side={
        <>
          {isDirty && (
            <span role="status" className={styles.unsaved}>
              {t.editor.unsaved}
            </span>
          )}
          {mayUpload && (
            <Button look="main" onClick={save}>
              {t.editor.save}
            </Button>
          )}
        </>
      }
    >
      <Workspace project={project} onProject={setProject} onSave={save} onValid={setValid} />
      <Suspense fallback={null}>
        {saving && (
          <SaveDialog
            project={project}
            suggestedId={idAfter(from)}
            visibility={from?.visibility ?? 'tenant'}
            isOver={from !== null && idAfter(from) === from.id}
            isValid={saving.isValid}
            onSaved={() => {
              isLeavable.current = true;
            }}
            onClose={() => setSaving(null)}
          />
        )}
        {blocked.status === 'blocked' && (
          <ConfirmDialog
            title={t.editor.leaveTitle}
            text={t.editor.leaveText}
            action={t.editor.leave}
            mutation={{ mutate: blocked.proceed, isPending: false, error: null }}
            onClose={blocked.reset}
          />
        )}
      </Suspense>
    </Screen>
  );
}

/**
 * Asks before the user leaves unsaved changes for another screen or page. Opening another file of the project does not count as
 * leaving.
 */
function useLeaving(isDirty: boolean, isLeavable: { current: boolean }) {
  const dirty = useRef(isDirty);
  useEffect(() => {
    dirty.current = isDirty;
  }, [isDirty]);
  const mustAsk = (): boolean => dirty.current && !isLeavable.current;
  return useBlocker({
    shouldBlockFn: ({ current, next }) => mustAsk() && current.pathname !== next.pathname,
    enableBeforeUnload: mustAsk,
    withResolver: true,
  });
}
