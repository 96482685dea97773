import { t } from '../text/text';
import cells from './row-cells.module.css';

/** A progress bar of finished operations, with the numbers in its accessible name. */
export function Progress({ finished, total }: { finished: number; total: number }) {
  if (total <= 0) return null;
  const part = Math.min(1, finished / total);
  return (
    <span
      className={cells.progress}
      role="progressbar"
      aria-label={t.execution.operations}
      aria-valuenow={finished}
      aria-valuemax={total}
      aria-valuemin={0}
      aria-valuetext={t.of(finished, total)}
    >
      <span style={{ width: `${part * 100}%` }} />
    </span>
  );
}
