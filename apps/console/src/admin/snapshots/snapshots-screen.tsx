/** Snapshots of the whole manager: create, upload, download, restore. */
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { useApi, useMay, useTenant } from '../../api/api-context';
import { restoreStatusQuery, type SnapshotRow, snapshotList } from '../../api/snapshots';
import { t } from '../../text/text';
import { Badge } from '../../ui/badge';
import { Button } from '../../ui/button';
import { timeColumn } from '../../ui/list-columns';
import { ListScreen } from '../../ui/list-screen';
import cells from '../../ui/row-cells.module.css';
import { Empty } from '../../ui/states';
import { Time } from '../../ui/time';
import type { ListColumn } from '../../ui/virtual-list';
import styles from '../admin.module.css';
import { SnapshotActions } from './snapshot-actions';
import type { SnapshotQuestion } from './snapshot-dialog';

const NewSnapshotDialog = lazy(() => import('./new-snapshot-dialog'));
const UploadDialog = lazy(() => import('./upload-dialog'));
const SnapshotDialog = lazy(() => import('./snapshot-dialog'));

export function SnapshotsScreen() {
  const { client } = useApi();
  const may = useMay();
  const { data: isRestoring } = useQuery(restoreStatusQuery(client, useTenant()));
  const [open, setOpen] = useState<'new' | 'upload' | null>(null);
  const [question, setQuestion] = useState<SnapshotQuestion | null>(null);
  return (
    <>
      <ListScreen
        name={t.snapshots.title}
        label={t.snapshots.title}
        list={snapshotList}
        columns={columns(setQuestion)}
        keyOf={({ id }) => id}
        count={t.snapshots.count}
        sort={NEWEST_FIRST}
        searchLabel={t.snapshots.search}
        above={isRestoring ? <span className={styles.warning}>{t.snapshots.restoring}</span> : undefined}
        empty={<Empty title={t.snapshots.empty} hint={t.snapshots.emptyHint} />}
        isLive
        side={
          <>
            {may('snapshot_upload') && (
              <Button onClick={() => setOpen('upload')}>{t.snapshots.upload}</Button>
            )}
            {may('snapshot_create') && (
              <Button look="main" onClick={() => setOpen('new')}>
                {t.snapshots.create}
              </Button>
            )}
          </>
        }
      />
      <Suspense fallback={null}>
        {open === 'new' && <NewSnapshotDialog onClose={() => setOpen(null)} />}
        {open === 'upload' && <UploadDialog onClose={() => setOpen(null)} />}
        {question && <SnapshotDialog question={question} onClose={() => setQuestion(null)} />}
      </Suspense>
    </>
  );
}

const NEWEST_FIRST = ['-created_at', 'id'];

function columns(onAsk: (question: SnapshotQuestion) => void): ListColumn<SnapshotRow>[] {
  const names = t.snapshots.columns;
  return [
    {
      id: 'id',
      name: names.id,
      width: 'minmax(120px, 2fr)',
      cell: (row) => (
        <span className={cells.main}>
          <strong className={cells.cut}>{row.id}</strong>
          <span className={`${cells.line} narrow-only`}>
            <Badge status={row.status} isBare />
            <Time at={row.created_at} />
          </span>
        </span>
      ),
    },
    {
      id: 'state',
      name: names.state,
      width: 'minmax(130px, 1.6fr)',
      isWideOnly: true,
      cell: (row) => (
        <span className={cells.pair}>
          <Badge status={row.status} />
          {row.error && (
            <span className={`${cells.bad} ${cells.cut}`} title={row.error}>
              {row.error}
            </span>
          )}
        </span>
      ),
    },
    timeColumn('created', names.created, (row) => row.created_at),
    {
      id: 'by',
      name: names.by,
      width: 'minmax(70px, 0.6fr)',
      isWideOnly: true,
      cell: ({ created_by }) => created_by,
    },
    {
      id: 'actions',
      name: names.actions,
      width: '116px',
      cell: (row) => <SnapshotActions row={row} onAsk={onAsk} />,
    },
  ];
}
