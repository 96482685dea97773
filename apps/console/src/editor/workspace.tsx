/** The three parts of the editor: files, text with its problems, topology. */
import { lazy, Suspense, useEffect, useMemo, useState } from 'react';
import { FileTreeView, fileClass } from '../source/file-tree-view';
import { visible } from '../source/text-lines';
import { t } from '../text/text';
import { planTopology } from '../topology/plan-topology';
import { TopologyView } from '../topology/topology-view';
import { useTopologyView } from '../topology/use-topology-view';
import { Button } from '../ui/button';
import cells from '../ui/row-cells.module.css';
import { Empty, Loading } from '../ui/states';
import { useAddress } from '../ui/use-address';
import type { EditorSearch } from './editor-search';
import type { FileAction } from './file-dialogs';
import type { EditorNode } from './parse-messages';
import { ProblemList } from './problem-list';
import { isYaml, type Project, withText } from './project';
import { useParser } from './use-parser';
import styles from './workspace.module.css';

const CodePane = lazy(() => import('./code-pane'));
const FileDialogs = lazy(() => import('./file-dialogs'));

interface WorkspaceProps {
  project: Project;
  onProject: (project: Project) => void;
  onSave: () => void;
  onValid: (isValid: boolean) => void;
}

export function Workspace({ project, onProject, onSave, onValid }: WorkspaceProps) {
  const { search, change } = useAddress<EditorSearch>();
  const parsed = useParser(project);
  const [action, setAction] = useState<FileAction | null>(null);
  const [jump, setJump] = useState<{ line: number; column: number } | null>(null);
  const path = search.file !== undefined && project.files.has(search.file) ? search.file : project.mainFile;
  const isValid = parsed.result?.isValid ?? false;
  useEffect(() => onValid(isValid), [isValid, onValid]);
  const open = (file: string): void => change({ file: file === project.mainFile ? undefined : file });
  const goTo = (file: string | null, line: number | null, column: number | null): void => {
    if (file === null || !project.files.has(file)) return;
    open(file);
    setJump({ line: line ?? 1, column: column ?? 1 });
  };
  const file = project.files.get(path);
  const diagnostics = useMemo(
    () => parsed.result?.diagnostics.filter((one) => one.file === path) ?? [],
    [parsed.result, path],
  );
  return (
    <div className={styles.workspace}>
      <div className={styles.files}>
        <div className={styles.head}>
          <h2>{t.source.files}</h2>
          <Button onClick={() => setAction({ kind: 'add' })}>{t.editor.add}</Button>
        </div>
        <FileTreeView
          paths={[...project.files.keys()]}
          chosen={path}
          file={(one, name, isChosen) => (
            <button
              type="button"
              className={`${fileClass} ${styles.file}`}
              aria-current={isChosen ? 'page' : undefined}
              onClick={() => open(one)}
            >
              {name}
              {one === project.mainFile && <span className={styles.badge}>{t.editor.main}</span>}
            </button>
          )}
        />
      </div>
      <div className={styles.middle}>
        <div className={styles.head}>
          <h2 className={styles.path}>{visible(path)}</h2>
          <FileActions project={project} path={path} onProject={onProject} onAction={setAction} />
        </div>
        {file?.text === null ? (
          <Empty title={t.editor.noText} hint={t.editor.noTextHint} />
        ) : (
          <div className={styles.code}>
            <Suspense fallback={<Loading />}>
              <CodePane
                path={path}
                text={file?.text ?? ''}
                label={t.editor.code(visible(path))}
                isReadOnly={false}
                diagnostics={diagnostics}
                jump={jump}
                complete={parsed.complete}
                onChange={(text) => onProject(withText(project, path, text))}
                onSave={onSave}
              />
            </Suspense>
          </div>
        )}
        <ProblemList parsed={parsed} files={project.files} onOpen={goTo} />
      </div>
      <section className={styles.drawing} aria-label={t.editor.topology}>
        <h2>{t.editor.topology}</h2>
        <LiveTopology nodes={parsed.result?.nodes ?? null} onNode={(node) => goTo(node.file, node.line, 1)} />
      </section>
      {action && (
        <Suspense fallback={null}>
          <FileDialogs
            action={action}
            project={project}
            onProject={(next, shown) => {
              onProject(next);
              change({ file: shown === next.mainFile ? undefined : shown });
            }}
            onClose={() => setAction(null)}
          />
        </Suspense>
      )}
    </div>
  );
}

interface FileActionsProps extends Pick<WorkspaceProps, 'project' | 'onProject'> {
  path: string;
  onAction: (action: FileAction) => void;
}

function FileActions({ project, path, onProject, onAction }: FileActionsProps) {
  if (!project.files.has(path)) return null;
  const isMain = path === project.mainFile;
  return (
    <div className={styles.actions}>
      {!isMain && isYaml(path) && (
        <Button look="quiet" onClick={() => onProject({ ...project, mainFile: path })}>
          {t.editor.setMain}
        </Button>
      )}
      <Button look="quiet" onClick={() => onAction({ kind: 'rename', path })}>
        {t.editor.rename}
      </Button>
      {!isMain && (
        <Button look="quiet" onClick={() => onAction({ kind: 'remove', path })}>
          {t.editor.remove}
        </Button>
      )}
    </div>
  );
}

function LiveTopology({ nodes, onNode }: { nodes: EditorNode[] | null; onNode: (node: EditorNode) => void }) {
  const look = useTopologyView();
  const topology = useMemo(() => planTopology(nodes ?? []), [nodes]);
  if (nodes === null) return <p className={cells.quiet}>{t.editor.topologyWaits}</p>;
  return (
    <TopologyView
      topology={topology}
      emptyHint={t.editor.topologyHint}
      onChoose={(id) => {
        const node = nodes.find((one) => one.id === id);
        if (node) onNode(node);
      }}
      {...look}
    />
  );
}
