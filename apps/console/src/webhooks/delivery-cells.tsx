import { t } from '../text/text';
import { Badge } from '../ui/badge';
import cells from '../ui/row-cells.module.css';
import { TimeLeft } from '../ui/time';
import type { DeliveryRow } from './webhooks';

/** The state of a delivery; of one that waits, when it is tried next. */
export function StateCell({ row }: { row: Pick<DeliveryRow, 'state' | 'next_attempt_at' | 'attempts'> }) {
  return (
    <span className={cells.main}>
      <span className={cells.pair}>
        <Badge status={row.state} />
      </span>
      {row.attempts > 0 && row.next_attempt_at && (
        <span className={cells.sub}>
          <TimeLeft at={row.next_attempt_at} />
        </span>
      )}
    </span>
  );
}

/** The error of the last attempt, which names the status; else the status; `no answer` where there was neither. */
export function AnswerText({ of }: { of: Pick<DeliveryRow, 'attempts' | 'last_status' | 'error'> }) {
  if (of.attempts === 0) return <>{t.none}</>;
  const status = of.last_status === null ? t.deliveries.noAnswer : String(of.last_status);
  return <span title={of.error ?? undefined}>{of.error ?? status}</span>;
}
