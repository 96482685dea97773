import { ChevronRight } from 'lucide-react';
import type { ExecutionGraph } from '../api/answers';
import { t } from '../text/text';
import { Badge } from '../ui/badge';
import styles from './stages.module.css';

/** The stages of a workflow in order. A single stage is not shown: it adds no information. */
export function Stages({ stages }: { stages: ExecutionGraph['stages'] }) {
  if (stages.length < 2) return null;
  return (
    <ol className={styles.stages} aria-label={t.gantt.stage}>
      {stages.map(({ name, state, error }, i) => (
        <li key={name} title={error ?? undefined}>
          {i > 0 && <ChevronRight size={14} aria-hidden="true" />}
          <span>{name}</span>
          <Badge status={state} isBare />
        </li>
      ))}
    </ol>
  );
}
