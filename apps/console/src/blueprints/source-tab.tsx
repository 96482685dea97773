/** The files of the archive, and the text of one of them with line numbers. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';
import { useApi, useTenant } from '../api/api-context';
import { type BlueprintDetail, type FileBytes, fileQuery, filesQuery, mainFileOf } from '../api/blueprints';
import { CodeLines } from '../source/code-lines';
import { FileTreeView, fileClass } from '../source/file-tree-view';
import { MOST_LINES, textLines, visible } from '../source/text-lines';
import { bytesText } from '../text/bytes';
import { t } from '../text/text';
import cells from '../ui/row-cells.module.css';
import { SearchBox } from '../ui/search-box';
import { Empty, Loaded } from '../ui/states';
import bar from '../ui/toolbar.module.css';
import { useAddress } from '../ui/use-address';
import type { BlueprintTabSearch } from './blueprint-tab-search';
import styles from './source-tab.module.css';

export default function SourceTab({ blueprint }: { blueprint: BlueprintDetail }) {
  const { client } = useApi();
  const query = useQuery(filesQuery(client, useTenant(), blueprint.id));
  return (
    <Loaded query={query}>
      {(paths) =>
        paths.length === 0 ? (
          <Empty
            title={blueprint.state === 'uploaded' ? t.source.empty : t.source.none}
            hint={blueprint.state === 'uploaded' ? undefined : t.source.noneHint}
          />
        ) : (
          <Files paths={paths} blueprint={blueprint} />
        )
      }
    </Loaded>
  );
}

function Files({ paths, blueprint }: { paths: string[]; blueprint: BlueprintDetail }) {
  const { search, change } = useAddress<BlueprintTabSearch>();
  const find = useCallback((text: string) => change({ _search: text || undefined }), [change]);
  const usual = mainFileOf(blueprint);
  const main = paths.includes(usual) ? usual : undefined;
  const path = search.file ?? main;
  return (
    <div className={styles.split}>
      <div className={styles.side}>
        <div className={bar.bar}>
          <SearchBox label={t.source.find} value={search._search ?? ''} onChange={find} />
        </div>
        <FileTreeView
          paths={paths}
          chosen={path}
          find={search._search}
          file={(one, name, isChosen) => (
            <Link
              to="."
              search={((now: BlueprintTabSearch) => ({ ...now, file: one, line: undefined })) as never}
              className={fileClass}
              aria-current={isChosen ? 'page' : undefined}
            >
              {name}
            </Link>
          )}
        />
      </div>
      <div className={styles.text}>
        {path === undefined ? (
          <Empty title={t.source.choose} />
        ) : (
          <FileText id={blueprint.id} path={path} line={search.line} />
        )}
      </div>
    </div>
  );
}

function FileText({ id, path, line }: { id: string; path: string; line: number | undefined }) {
  const { client } = useApi();
  const query = useQuery(fileQuery(client, useTenant(), id, path));
  return (
    <>
      <h2 className={styles.path}>{visible(path)}</h2>
      <Loaded query={query}>{(file) => <Lines file={file} path={path} line={line} />}</Loaded>
    </>
  );
}

function Lines({ file, path, line }: { file: FileBytes; path: string; line: number | undefined }) {
  const isPart = file.size !== null && file.size > file.bytes.length;
  const text = useMemo(() => textLines(file.bytes, isPart), [file, isPart]);
  const size = bytesText(file.size ?? file.bytes.length);
  if (text === null) return <Empty title={t.source.binary} hint={t.source.binaryHint(size)} />;
  const said = text.isCut
    ? t.source.cutLines(MOST_LINES)
    : isPart
      ? t.source.cut(bytesText(file.bytes.length), size)
      : null;
  return (
    <>
      {text.hasHidden && <p className={cells.bad}>{t.source.hidden}</p>}
      <CodeLines lines={text.lines} label={t.source.lines(visible(path))} marked={line} />
      {said && <p className={cells.quiet}>{said}</p>}
    </>
  );
}
