/**
 * Nodes and relationships as a drawing, or as a table with the same data. The source is a deployment, a plan, or a text in the
 * editor.
 */
import { type ReactNode, useId, useMemo, useState } from 'react';
import { t } from '../text/text';
import { Button } from '../ui/button';
import { BarSelect } from '../ui/field';
import { SimpleTable } from '../ui/simple-table';
import { Empty } from '../ui/states';
import { instanceTone } from '../ui/tone';
import bar from '../ui/toolbar.module.css';
import {
  type DrawnNode,
  edgePath,
  layoutTopology,
  MOST_DRAWN,
  NODE_HEIGHT,
  NODE_WIDTH,
} from './layout-topology';
import { type EdgeKind, TOPOLOGY_LOOKS, type TopologyLook, type TopologyParts } from './topology-parts';
import styles from './topology-view.module.css';

const KINDS: readonly EdgeKind[] = ['contained_in', 'connected_to', 'depends_on'];

interface TopologyViewProps {
  topology: TopologyParts;
  view: TopologyLook;
  onView: (view: TopologyLook) => void;
  /** Further controls beside the choice between graph and table. */
  bar?: ReactNode;
  /** Hint for an empty topology. */
  emptyHint?: string;
  /** The highlighted node; null: none. */
  chosen?: string | null;
  /** Called on a click on a node, if clicks have an effect. A collapsed group of nodes has no id: null. */
  onChoose?: (id: string | null) => void;
}

/** The caller keeps `view` and the chosen node, in the address if possible. */
export function TopologyView({ topology, view, onView, emptyHint, bar: more, ...rest }: TopologyViewProps) {
  if (topology.nodes.length === 0) return <Empty title={t.topology.empty} hint={emptyHint} />;
  return (
    <>
      <div className={bar.bar}>
        <BarSelect
          label={t.topology.view}
          value={view}
          options={TOPOLOGY_LOOKS.map((one) => [one, t.topology[one]] as const)}
          onChange={(value) => onView(value === 'table' ? 'table' : 'graph')}
        />
        {view === 'graph' && <Legend />}
        {more}
      </div>
      {view === 'graph' ? (
        <Graph topology={topology} {...rest} />
      ) : (
        <Table topology={topology} onChoose={rest.onChoose} />
      )}
    </>
  );
}

function Legend() {
  return (
    <ul className={styles.legend} aria-label={t.topology.legend}>
      {KINDS.map((kind) => (
        <li key={kind}>
          <svg width="28" height="8" aria-hidden="true">
            <line className={styles.edge} data-kind={kind} x1="0" y1="4" x2="28" y2="4" />
          </svg>
          {t.topology.kinds[kind]}
        </li>
      ))}
    </ul>
  );
}

type GraphProps = Pick<TopologyViewProps, 'topology' | 'chosen' | 'onChoose'>;

function Graph({ topology, chosen = null, onChoose }: GraphProps) {
  // Each drawing needs its own arrow id: two drawings may be on one page.
  const arrow = useId();
  const drawing = useMemo(() => layoutTopology(topology), [topology]);
  const places = useMemo(() => new Map(drawing.nodes.map((node) => [node.id, node])), [drawing]);
  const [near, setNear] = useState<string | null>(null);
  return (
    <>
      {drawing.isCollapsed && <p className={bar.note}>{t.topology.isCollapsed(MOST_DRAWN)}</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
      <section className={styles.canvas} aria-label={t.topology.graph} tabIndex={0}>
        <svg
          width={drawing.width}
          height={drawing.height}
          role="img"
          aria-label={t.topology.label(topology.nodes.length, topology.edges.length)}
        >
          <defs>
            <marker
              id={arrow}
              viewBox="0 0 8 8"
              refX="7"
              refY="4"
              markerWidth="7"
              markerHeight="7"
              orient="auto"
            >
              <path d="M0 0 8 4 0 8z" className={styles.head} />
            </marker>
          </defs>
          {drawing.edges.map(({ source, target, kind }) => (
            <path
              key={`${source} ${target} ${kind}`}
              className={`${styles.edge} ${near !== null && near !== source && near !== target ? styles.far : ''}`}
              data-kind={kind}
              markerEnd={`url(#${arrow})`}
              d={edgePath(places.get(source)!, places.get(target)!)}
            />
          ))}
          {drawing.nodes.map((node) => (
            <Box
              key={node.id}
              node={node}
              isChosen={node.id === chosen}
              onNear={setNear}
              onChoose={onChoose && (() => onChoose(drawing.isCollapsed ? null : node.id))}
            />
          ))}
        </svg>
      </section>
    </>
  );
}

interface BoxProps {
  node: DrawnNode;
  isChosen: boolean;
  onNear: (id: string | null) => void;
  onChoose?: () => void;
}

function Box({ node, isChosen, onNear, onChoose }: BoxProps) {
  const states = Object.entries(node.byState);
  const bar = NODE_WIDTH - 24;
  let left = 0;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the table has a button for each node.
    <g
      transform={`translate(${node.x} ${node.y})`}
      onPointerEnter={() => onNear(node.id)}
      onPointerLeave={() => onNear(null)}
      onClick={onChoose}
      className={onChoose ? styles.link : undefined}
      data-chosen={isChosen || undefined}
    >
      <title>{`${node.title} (${node.subtitle}) ${states.map(([state, n]) => `${state}: ${n}`).join(', ')}`}</title>
      <rect className={styles.box} width={NODE_WIDTH} height={NODE_HEIGHT} rx="8" />
      <text className={styles.title} x="12" y="21">
        {cut(node.title, 24)}
      </text>
      <text className={styles.subtitle} x="12" y="38">
        {cut(node.subtitle, 28)}
      </text>
      {node.hasDrift && <circle className={styles.drift} cx={NODE_WIDTH - 12} cy="14" r="5" />}
      {states.map(([state, n]) => {
        const width = (n / Math.max(1, node.total)) * bar;
        const x = 12 + left;
        left += width;
        return (
          <rect
            key={state}
            className={styles.state}
            data-tone={instanceTone(state)}
            x={x}
            y="46"
            width={width}
            height="5"
          />
        );
      })}
    </g>
  );
}

const cut = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most - 1)}…` : text;

function Table({ topology, onChoose }: Pick<TopologyViewProps, 'topology' | 'onChoose'>) {
  const targets = useMemo(() => {
    const map = new Map<string, string[]>();
    for (const { source, target, kind } of topology.edges)
      map.set(source, [...(map.get(source) ?? []), `${t.topology.kinds[kind]} ${target}`]);
    return map;
  }, [topology]);
  return (
    <SimpleTable
      label={t.topology.table}
      rows={topology.nodes}
      keyOf={({ id }) => id}
      columns={[
        {
          name: t.topology.node,
          cell: ({ id }) =>
            onChoose ? (
              <Button look="quiet" onClick={() => onChoose(id)}>
                {id}
              </Button>
            ) : (
              <strong>{id}</strong>
            ),
        },
        { name: t.topology.type, cell: ({ type }) => type },
        {
          name: t.topology.states,
          cell: ({ instances, has_drift }) =>
            [
              ...Object.entries(instances.by_state).map(([state, n]) => `${t.number(n)} ${state}`),
              ...(has_drift ? [t.topology.drift] : []),
            ].join(', '),
        },
        { name: t.topology.edges, cell: ({ id }) => (targets.get(id) ?? [t.none]).join(', ') },
      ]}
    />
  );
}
