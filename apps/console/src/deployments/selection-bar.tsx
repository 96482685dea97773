import { Play } from 'lucide-react';
import { t } from '../text/text';
import { Button } from '../ui/button';
import styles from './selection-bar.module.css';

export function SelectionBar({
  ids,
  onClear,
  onStart,
}: {
  ids: string[];
  onClear: () => void;
  onStart: () => void;
}) {
  return (
    <div className={styles.bar}>
      <strong>{t.deployments.selected(ids.length)}</strong>
      <Button look="main" onClick={onStart}>
        <Play size={15} aria-hidden="true" /> {t.deployments.bulkStart}
      </Button>
      <Button look="quiet" onClick={onClear}>
        {t.deployments.selectNone}
      </Button>
    </div>
  );
}
