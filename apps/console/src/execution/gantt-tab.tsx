/**
 * Tasks over time: a virtual table whose last cell is a bar. Few bars are on the screen at a time, so they are HTML elements
 * instead of a canvas: they support the theme, zoom and screen readers.
 */
import { useQuery } from '@tanstack/react-query';
import { useVirtualizer } from '@tanstack/react-virtual';
import { lazy, memo, Suspense, useEffect, useMemo, useRef, useState } from 'react';
import type { ExecutionGraph } from '../api/answers';
import { useApi, useMay, useTenant } from '../api/api-context';
import { graphQuery, hasEnded } from '../api/executions';
import { useSettings } from '../settings/settings';
import { durationText, instantText } from '../text/format';
import { statusText, t } from '../text/text';
import { BarSelect, Check } from '../ui/field';
import { Empty, Loaded } from '../ui/states';
import { useNow } from '../ui/time';
import { toneOf } from '../ui/tone';
import bar from '../ui/toolbar.module.css';
import { useIsNarrow } from '../ui/use-is-narrow';
import styles from './gantt-tab.module.css';
import { Stages } from './stages';
import {
  barOf,
  chosenRows,
  isFailed,
  type Span,
  spanOf,
  type TaskRow,
  type TaskSort,
  taskRows,
  ticksOf,
  tookMs,
} from './task-rows';

const TaskDialog = lazy(() => import('./task-dialog'));

const ROW_PX = 32;
const NARROW_ROW_PX = 50;
const MOST_TICKS = 6;

export default function GanttTab({ id }: { id: string }) {
  const { client } = useApi();
  const query = useQuery(graphQuery(client, useTenant(), id));
  return <Loaded query={query}>{(graph) => <Timeline graph={graph} id={id} />}</Loaded>;
}

function Timeline({ graph, id }: { graph: ExecutionGraph; id: string }) {
  const [openId, setOpenId] = useState<string | null>(null);
  // Tasks that are only planned have no lasting ids.
  const isOpenable = useMay()('operations') && !graph.is_planned;
  const [isOperationsOnly, setOperationsOnly] = useState(true);
  const [isFailedOnly, setFailedOnly] = useState(false);
  const [sort, setSort] = useState<TaskSort>('start');
  const nowMs = useNow(!hasEnded(graph.status) && !graph.is_planned);
  const all = useMemo(() => taskRows(graph), [graph]);
  const rows = useMemo(
    () => chosenRows(all, { isOperationsOnly, isFailedOnly, sort }, nowMs),
    [all, isOperationsOnly, isFailedOnly, sort, nowMs],
  );
  const open = openId === null ? undefined : all.find((row) => row.id === openId);
  const span = useMemo(() => spanOf(all, nowMs), [all, nowMs]);
  if (all.length === 0)
    return (
      <>
        <Stages stages={graph.stages} />
        <Empty title={t.gantt.empty} hint={graph.error ?? t.gantt.emptyHint} />
      </>
    );
  return (
    <>
      <Stages stages={graph.stages} />
      {graph.is_planned && <p className={bar.note}>{t.gantt.planned}</p>}
      {!graph.is_planned && span === null && <p className={bar.note}>{t.gantt.noTimes}</p>}
      <div className={bar.bar}>
        <Check label={t.gantt.operationsOnly} isChecked={isOperationsOnly} onChange={setOperationsOnly} />
        <Check label={t.gantt.failedOnly} isChecked={isFailedOnly} onChange={setFailedOnly} />
        <BarSelect
          label={t.gantt.sort}
          value={sort}
          options={Object.entries(t.gantt.sorts)}
          onChange={(value) => setSort(value as TaskSort)}
        />
        <span className={bar.grow} />
        <span className={bar.count}>{t.gantt.shown(rows.length, all.length)}</span>
      </div>
      <Rows rows={rows} span={span} nowMs={nowMs} onOpen={isOpenable ? setOpenId : null} />
      {open && (
        <Suspense fallback={null}>
          <TaskDialog executionId={id} row={open} onClose={() => setOpenId(null)} />
        </Suspense>
      )}
    </>
  );
}

interface RowsProps {
  rows: TaskRow[];
  span: Span | null;
  nowMs: number;
  /** Null: nothing more can be told of a task. */
  onOpen: ((id: string) => void) | null;
}

function Rows({ rows, span, nowMs, onOpen }: RowsProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const isNarrow = useIsNarrow();
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => (isNarrow ? NARROW_ROW_PX : ROW_PX),
    overscan: 10,
  });
  useEffect(() => virtual.measure(), [virtual, isNarrow]);
  return (
    <div className={styles.table} role="table" aria-label={t.gantt.label} aria-rowcount={rows.length + 1}>
      <div role="rowgroup">
        <div role="row" aria-rowindex={1} className={styles.head}>
          {[t.gantt.task, t.gantt.state, t.gantt.took].map((name) => (
            <div role="columnheader" key={name}>
              {name}
            </div>
          ))}
          <div role="columnheader" className={styles.axis}>
            <span className="visually-hidden">{t.gantt.bar}</span>
            {span && <Axis span={span} />}
          </div>
        </div>
      </div>
      <div role="rowgroup" ref={scroller} className={styles.scroller} tabIndex={0}>
        <div role="presentation" className={styles.space} style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start, size }) => (
            <Row
              key={rows[index]!.id}
              row={rows[index]!}
              index={index}
              start={start}
              size={size}
              span={span}
              nowMs={nowMs}
              onOpen={onOpen}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

function Axis({ span }: { span: Span }) {
  const whole = span.toMs - span.fromMs;
  return (
    <span aria-hidden="true">
      {ticksOf(span, MOST_TICKS).map((tick) => (
        <span key={tick} className={styles.tick} style={{ left: `${(tick / whole) * 100}%` }}>
          {tick === 0 ? '0' : durationText(tick)}
        </span>
      ))}
    </span>
  );
}

interface RowProps extends Omit<RowsProps, 'rows'> {
  row: TaskRow;
  index: number;
  start: number;
  size: number;
}

/** Memoised: while a person pans, React renders only the rows that come in. */
const Row = memo(function Row({ row, index, start, size, span, nowMs, onOpen }: RowProps) {
  const { zone } = useSettings();
  const drawn = span && barOf(row, span, nowMs);
  const took = tookMs(row, nowMs);
  const said = [
    row.startMs !== null && instantText(new Date(row.startMs).toISOString(), zone),
    row.attempt !== null && row.attempt > 1 && t.gantt.attempt(row.attempt),
    row.nextRetryMs !== null && t.gantt.nextRetry(instantText(new Date(row.nextRetryMs).toISOString(), zone)),
    row.error,
  ].filter(Boolean);
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      className={`${styles.row} ${isFailed(row) ? styles.failed : ''}`}
      style={{ height: size, transform: `translateY(${start}px)` }}
      title={said.join('\n')}
    >
      <div role="cell" className={styles.name}>
        {onOpen ? (
          <button
            type="button"
            className={styles.open}
            aria-label={t.gantt.open([row.name, row.about].filter(Boolean).join(' '))}
            onClick={() => onOpen(row.id)}
          >
            <strong>{row.name}</strong>
          </button>
        ) : (
          <strong>{row.name}</strong>
        )}{' '}
        {row.about && <span>{row.about}</span>}
      </div>
      <div role="cell" className={styles.state}>
        <span className={styles.dot} data-tone={toneOf(row.state)} aria-hidden="true" />
        {statusText(row.state)}
        {row.attempt !== null && row.attempt > 1 ? ` (${row.attempt})` : ''}
      </div>
      <div role="cell" className={styles.took}>
        {took < 0 ? t.none : durationText(row.endMs === null ? Math.floor(took / 1000) * 1000 : took)}
      </div>
      <div role="cell" className={styles.track}>
        <span className="visually-hidden">{said.join(', ')}</span>
        {drawn && (
          <span
            className={styles.bar}
            data-tone={isFailed(row) ? 'bad' : toneOf(row.state)}
            style={{ left: `${drawn.left}%`, width: `${drawn.width}%` }}
          />
        )}
      </div>
    </div>
  );
});
