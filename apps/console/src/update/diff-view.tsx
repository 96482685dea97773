/** Resources with their changed properties: the old value beside the new one. */
import { ChevronRight, CircleMinus, CirclePlus, CircleSlash, PenLine, RefreshCw } from 'lucide-react';
import { t } from '../text/text';
import { JsonView } from '../ui/json-view';
import cells from '../ui/row-cells.module.css';
import { type Column, SimpleTable } from '../ui/simple-table';
import type { DiffLine, ResourceDiff, Verdict } from './diff';
import styles from './update.module.css';

const ICONS = {
  refused: CircleSlash,
  remove: CircleMinus,
  replace: RefreshCw,
  change: PenLine,
  add: CirclePlus,
  none: ChevronRight,
} as const satisfies Record<Verdict, unknown>;

export function ResourceList({ resources, isOpen }: { resources: readonly ResourceDiff[]; isOpen: boolean }) {
  return resources.map((resource) => <Resource key={resource.node} resource={resource} isOpen={isOpen} />);
}

function Resource({ resource, isOpen }: { resource: ResourceDiff; isOpen: boolean }) {
  const { node, verdict, lines } = resource;
  const Icon = ICONS[verdict];
  const name = node ?? t.update.deployment;
  return (
    <details className={styles.resource} data-verdict={verdict} open={isOpen}>
      <summary>
        <Icon size={16} aria-hidden="true" />
        <strong>{name}</strong>
        <span className={styles.verdict}>{t.update.verdicts[verdict]}</span>
        <span className={cells.quiet}>{t.update.changes(lines.length)}</span>
      </summary>
      <DiffTable label={name} lines={lines} hasEffect={verdict !== 'none'} />
    </details>
  );
}

export function DiffTable({
  label,
  lines,
  hasEffect,
}: {
  label: string;
  lines: readonly DiffLine[];
  hasEffect: boolean;
}) {
  const { columns } = t.update;
  const all: Column<DiffLine>[] = [
    { name: columns.path, cell: ({ path }) => <strong>{path || t.update.itself}</strong> },
    { name: columns.before, cell: ({ before }) => <Side of={before} is="before" /> },
    { name: columns.after, cell: ({ after }) => <Side of={after} is="after" /> },
  ];
  const effect: Column<DiffLine> = { name: columns.effect, cell: (line) => t.update.effects[line.effect] };
  return (
    <SimpleTable
      label={label}
      rows={lines}
      // A removed and an added relationship may have the same index.
      keyOf={({ path, effect: of }) => `${path} ${of}`}
      columns={hasEffect ? [...all, effect] : all}
    />
  );
}

/** The old value is struck out, so that old and new do not differ by colour alone. */
function Side({ of, is }: { of: unknown; is: 'before' | 'after' }) {
  if (of === undefined) return <span className={cells.quiet}>{t.update.absent}</span>;
  const isLong = typeof of === 'object' && of !== null;
  if (isLong) return <JsonView value={of} />;
  const Mark = is === 'before' ? 'del' : 'ins';
  return (
    <Mark className={styles[is]}>
      <JsonView value={of} />
    </Mark>
  );
}
