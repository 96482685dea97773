import type { ExecutionDetail } from '../api/executions';
import { durationText } from '../text/format';
import { t } from '../text/text';
import { useNow } from '../ui/time';
import styles from './notices.module.css';

/** Shown while the execution is being cancelled: a countdown of the time that operations still have. */
export function CancelNotice({ execution }: { execution: ExecutionDetail }) {
  const { status, cancel_deadline: deadline } = execution;
  const isCancelling =
    status === 'cancelling' || status === 'force_cancelling' || status === 'kill_cancelling';
  const nowMs = useNow(isCancelling && deadline !== undefined);
  if (!isCancelling) return null;
  const leftMs = deadline === undefined ? null : Date.parse(deadline) - nowMs;
  const text =
    leftMs === null
      ? t.execution.noDeadline
      : leftMs > 0
        ? t.execution.deadline(durationText(Math.ceil(leftMs / 1000) * 1000))
        : t.execution.deadlinePassed;
  return (
    <p className={styles.warn} role="timer" aria-live="off">
      {text}
    </p>
  );
}
