import { Download, RotateCcw, Trash2 } from 'lucide-react';
import { useMay } from '../../api/api-context';
import { saveDownload } from '../../api/save-download';
import type { SnapshotRow } from '../../api/snapshots';
import { useChange } from '../../api/use-change';
import { t } from '../../text/text';
import { Button } from '../../ui/button';
import { InlineProblem } from '../../ui/states';
import type { SnapshotQuestion } from './snapshot-dialog';
import styles from './snapshots.module.css';

/** Actions for one snapshot, depending on its state. A snapshot without an archive can only be deleted. */
export function SnapshotActions({
  row: { id, status },
  onAsk,
}: {
  row: SnapshotRow;
  onAsk: (question: SnapshotQuestion) => void;
}) {
  const may = useMay();
  const download = useChange([], async (client, tenant) =>
    saveDownload(
      await client.download('downloadSnapshot', { tenant, params: { snapshot_id: id } }),
      `${id}.zip`,
    ),
  );
  const hasArchive = status === 'created' || status === 'uploaded';
  return (
    <span className={styles.actions}>
      <InlineProblem error={download.error} />
      {hasArchive && may('snapshot_download') && (
        <Button
          look="icon"
          aria-label={t.snapshots.downloadId(id)}
          title={t.snapshots.download}
          disabled={download.isPending}
          onClick={() => download.mutate()}
        >
          <Download size={16} aria-hidden="true" />
        </Button>
      )}
      {hasArchive && may('snapshot_restore') && (
        <Button
          look="icon"
          aria-label={t.snapshots.restoreId(id)}
          title={t.snapshots.restore}
          onClick={() => onAsk({ do: 'restore', id })}
        >
          <RotateCcw size={16} aria-hidden="true" />
        </Button>
      )}
      {status !== 'creating' && may('snapshot_delete') && (
        <Button
          look="icon"
          aria-label={t.snapshots.deleteId(id)}
          title={t.snapshots.delete}
          onClick={() => onAsk({ do: 'delete', id })}
        >
          <Trash2 size={16} aria-hidden="true" />
        </Button>
      )}
    </span>
  );
}
