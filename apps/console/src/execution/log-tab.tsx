/** The log of an execution: starts at its tail, updates live, is filtered by the manager, and uses bounded memory. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { ArrowDownToLine, Pause, Play, X } from 'lucide-react';
import { useCallback, useLayoutEffect, useRef, useState } from 'react';
import { fileNameOf } from '../log-download/event-text';
import { LogDownload } from '../log-download/log-download';
import { useSettings } from '../settings/settings';
import { clockText } from '../text/format';
import { t } from '../text/text';
import { Button } from '../ui/button';
import { Causes } from '../ui/causes';
import { BarSelect, Check } from '../ui/field';
import { SearchBox } from '../ui/search-box';
import { Empty, Loading, ProblemView } from '../ui/states';
import bar from '../ui/toolbar.module.css';
import { LEVELS, type LogSearch } from './execution-search';
import styles from './log-tab.module.css';
import { type LogLine, type LogWindow, lineTone } from './log-window';
import { useLog } from './use-log';

const ROW_PX = 24;
const NEAR_END_PX = 48;

export default function LogTab({ id }: { id: string }) {
  const search = useSearch({ strict: false }) as LogSearch;
  const navigate = useNavigate();
  const change = useCallback(
    (next: Partial<LogSearch>): void =>
      void navigate({ to: '.', search: ((now: LogSearch) => ({ ...now, ...next })) as never, replace: true }),
    [navigate],
  );
  const log = useLog(id, search);
  const [frozen, setFrozen] = useState<LogWindow | null>(null);
  const shown = frozen ?? log.window;
  const waiting = frozen
    ? log.window.lines.length + log.window.dropped - frozen.lines.length - frozen.dropped
    : 0;
  const setMessage = useCallback((text: string) => change({ message: text || undefined }), [change]);
  const isFiltered = Boolean(search.message || search.level || search.failed || search.node_instance_id);
  const state = frozen ? 'paused' : log.state;
  return (
    <section className={styles.log} aria-label={t.log.label}>
      <div className={bar.bar}>
        <SearchBox label={t.log.search} value={search.message ?? ''} onChange={setMessage} />
        <Check
          label={t.log.failedOnly}
          isChecked={search.failed === true}
          onChange={(isOn) => change({ failed: isOn || undefined })}
        />
        <BarSelect
          label={t.log.level}
          value={search.level ?? ''}
          options={[
            ['', t.log.levels.all!],
            ...LEVELS.map((level) => [level, t.log.levels[level]!] as const),
          ]}
          onChange={(level) => change({ level: LEVELS.find((one) => one === level) })}
        />
        {search.node_instance_id && (
          <Button onClick={() => change({ node_instance_id: undefined })} title={t.log.clearInstance}>
            {t.log.instance(search.node_instance_id)} <X size={14} aria-hidden="true" />
          </Button>
        )}
        <span className={bar.grow} />
        <span className={bar.count} role="status">
          {t.log.states[state]} · {t.log.lines(shown.lines.length)}
        </span>
        <LogDownload key={id} executionId={id} fileName={fileNameOf(['log', id])} />
        {log.state !== 'ended' || frozen ? (
          <Button onClick={() => setFrozen(frozen ? null : log.window)}>
            {frozen ? <Play size={15} aria-hidden="true" /> : <Pause size={15} aria-hidden="true" />}
            {frozen ? t.log.resume(waiting) : t.log.pause}
          </Button>
        ) : null}
      </div>
      {log.error ? <ProblemView error={log.error} /> : null}
      {shown.dropped > 0 && <p className={bar.note}>{t.log.dropped(shown.dropped)}</p>}
      {shown.lines.length === 0 && !log.error ? (
        log.state === 'connecting' ? (
          <Loading />
        ) : (
          <Empty title={isFiltered ? t.log.noMatch : t.log.empty} />
        )
      ) : (
        <Lines
          lines={shown.lines}
          onInstance={(instance) => change({ node_instance_id: instance })}
          end={log.state === 'ended' && !isFiltered ? t.log.ended : null}
        />
      )}
    </section>
  );
}

interface LinesProps {
  lines: LogLine[];
  onInstance: (id: string) => void;
  end: string | null;
}

function Lines({ lines, onInstance, end }: LinesProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const isByHand = useRef(false);
  const [isFollowing, setFollowing] = useState(true);
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    getItemKey: (index) => lines[index]!.id,
    overscan: 20,
  });
  const items = virtual.getVirtualItems();
  const sizePx = virtual.getTotalSize();
  const toEnd = useCallback((): void => {
    const box = scroller.current;
    if (box) box.scrollTop = box.scrollHeight;
  }, []);
  // The end also moves without a new line: lines grow when they are measured, and the box shrinks when something appears above
  // it.
  useLayoutEffect(() => {
    const box = scroller.current;
    const list = box?.firstElementChild;
    if (!isFollowing || !list) return;
    const watch = new ResizeObserver(() => requestAnimationFrame(toEnd));
    watch.observe(list);
    watch.observe(box);
    return () => watch.disconnect();
  }, [isFollowing, toEnd, end]);
  const byHand = (): void => {
    isByHand.current = true;
  };
  const toggle = (id: string): void =>
    setOpen((before) => {
      const next = new Set(before);
      if (!next.delete(id)) next.add(id);
      return next;
    });
  return (
    <div className={styles.frame}>
      <section
        ref={scroller}
        className={styles.scroller}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
        tabIndex={0}
        aria-label={t.log.label}
        onWheel={byHand}
        onTouchMove={byHand}
        onPointerDown={byHand}
        onKeyDown={byHand}
        onScroll={({ currentTarget: box }) => {
          const isNear = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_END_PX;
          // The list also scrolls by itself when it measures lines. Only scrolling by the user ends the following.
          if (isNear || isByHand.current) setFollowing(isNear);
          else if (isFollowing) requestAnimationFrame(toEnd);
          if (isNear) isByHand.current = false;
        }}
      >
        <ol className={styles.space} style={{ height: sizePx }}>
          {items.map(({ index, start, key }) => (
            <Line
              key={key}
              line={lines[index]!}
              index={index}
              start={start}
              measure={virtual.measureElement}
              isOpen={open.has(lines[index]!.id)}
              onToggle={toggle}
              onInstance={onInstance}
            />
          ))}
        </ol>
        {end && <p className={styles.end}>{end}</p>}
      </section>
      {!isFollowing && (
        <Button
          className={styles.follow}
          onClick={() => {
            setFollowing(true);
          }}
        >
          <ArrowDownToLine size={15} aria-hidden="true" /> {t.log.follow}
        </Button>
      )}
    </div>
  );
}

interface LineProps {
  line: LogLine;
  index: number;
  start: number;
  measure: (element: HTMLElement | null) => void;
  isOpen: boolean;
  onToggle: (id: string) => void;
  onInstance: (id: string) => void;
}

function Line({ line, index, start, measure, isOpen, onToggle, onInstance }: LineProps) {
  const { zone } = useSettings();
  return (
    <li
      ref={measure}
      data-index={index}
      className={styles.line}
      data-tone={lineTone(line)}
      style={{ transform: `translateY(${start}px)` }}
    >
      <time dateTime={line.time} title={line.time}>
        {clockText(line.time, zone)}
      </time>
      <span className={styles.level}>{line.level ?? line.eventType?.replaceAll('_', ' ') ?? ''}</span>
      {line.instanceId ? (
        <button
          type="button"
          className={styles.instance}
          onClick={() => onInstance(line.instanceId!)}
          title={line.instanceId}
        >
          {line.instanceId}
        </button>
      ) : (
        <span className={styles.instance} />
      )}
      <span className={styles.message}>
        {line.message}
        {line.causes.length > 0 && (
          <>
            {' '}
            <button
              type="button"
              className={styles.causes}
              aria-expanded={isOpen}
              onClick={() => onToggle(line.id)}
            >
              {t.log.causes}
            </button>
            {isOpen && <Causes causes={line.causes} />}
          </>
        )}
      </span>
    </li>
  );
}
