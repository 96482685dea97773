/** Files of an archive by folder. The caller renders each file: as a link, or as a button. */
import { type ReactNode, useMemo } from 'react';
import { t } from '../text/text';
import { leadsTo, type TreeFolder, treeOf } from './file-tree';
import styles from './file-tree.module.css';
import { visible } from './text-lines';

/** Maximum of listed files per folder or search; further files are only counted. */
const MOST_LISTED = 300;

interface FileTreeViewProps {
  paths: readonly string[];
  chosen: string | undefined;
  /** Shows only files whose paths contain this text, without folders. */
  find?: string;
  file: (path: string, name: string, isChosen: boolean) => ReactNode;
}

export const fileClass = styles.file!;

export function FileTreeView({ paths, chosen, find = '', file }: FileTreeViewProps) {
  const tree = useMemo(() => treeOf(paths), [paths]);
  const needle = find.toLowerCase();
  const found = needle === '' ? null : paths.filter((path) => path.toLowerCase().includes(needle));
  return (
    <nav className={styles.tree} aria-label={t.source.files}>
      {found ? (
        <Files
          files={found.map((path) => ({ name: path, path }))}
          chosen={chosen}
          file={file}
          empty={t.source.noMatch}
        />
      ) : (
        <ul>
          <FolderContent folder={tree} chosen={chosen} file={file} />
        </ul>
      )}
    </nav>
  );
}

type PartProps = Pick<FileTreeViewProps, 'chosen' | 'file'>;

function FolderContent({ folder, ...rest }: PartProps & { folder: TreeFolder }) {
  const { chosen } = rest;
  return (
    <>
      {folder.folders.slice(0, MOST_LISTED).map((inner) => (
        <li key={inner.path}>
          <details open={leadsTo(inner.path, chosen) || undefined}>
            <summary aria-label={t.source.folder(visible(inner.name))}>{visible(inner.name)}/</summary>
            <ul>
              <FolderContent folder={inner} {...rest} />
            </ul>
          </details>
        </li>
      ))}
      <FileItems files={folder.files} {...rest} />
    </>
  );
}

function Files({ files, empty, ...rest }: PartProps & { files: TreeFolder['files']; empty: string }) {
  if (files.length === 0) return <p className={styles.more}>{empty}</p>;
  return (
    <ul>
      <FileItems files={files} {...rest} />
    </ul>
  );
}

function FileItems({ files, chosen, file }: PartProps & { files: TreeFolder['files'] }) {
  return (
    <>
      {files.slice(0, MOST_LISTED).map(({ path, name }) => (
        <li key={path}>{file(path, visible(name), path === chosen)}</li>
      ))}
      {files.length > MOST_LISTED && (
        <li className={styles.more}>{t.source.more(files.length - MOST_LISTED)}</li>
      )}
    </>
  );
}
