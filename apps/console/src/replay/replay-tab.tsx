/** The topology at an event of an execution: a slider, whose position is kept in the address, and a player that moves it. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Pause, Play, SkipBack, SkipForward } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { useApi, useTenant } from '../api/api-context';
import { topologyQuery } from '../api/deployments';
import type { ExecutionDetail } from '../api/executions';
import { topologyStatesQuery } from '../api/replay';
import { t } from '../text/text';
import { TopologyView } from '../topology/topology-view';
import { useTopologyView } from '../topology/use-topology-view';
import { Button } from '../ui/button';
import { Empty, InlineProblem, Loaded } from '../ui/states';
import { Time } from '../ui/time';
import { useAddress } from '../ui/use-address';
import styles from './replay.module.css';
import type { ReplaySearch } from './replay-search';
import { stepOf, withStates } from './replay-states';

/** Minimum duration of a step; the player waits for slower answers. */
const STEP_MS = 400;

export default function ReplayTab({ execution, id }: { execution: ExecutionDetail; id: string }) {
  if (!execution.deployment_id) return <Empty title={t.replay.noDeployment} />;
  return <OfDeployment deploymentId={execution.deployment_id} id={id} />;
}

function OfDeployment({ deploymentId, id }: { deploymentId: string; id: string }) {
  const { client } = useApi();
  const tenant = useTenant();
  const topology = useQuery(topologyQuery(client, tenant, deploymentId));
  const newest = useQuery(topologyStatesQuery(client, tenant, id, null));
  return (
    <Loaded query={topology}>
      {(parts) => (
        <Loaded query={newest}>
          {({ at }) =>
            at === null ? (
              <Empty title={t.replay.nothing} hint={t.replay.nothingHint} />
            ) : (
              <Replay id={id} last={at.seq} parts={parts} />
            )
          }
        </Loaded>
      )}
    </Loaded>
  );
}

interface ReplayProps {
  id: string;
  last: number;
  parts: Parameters<typeof withStates>[0];
}

function Replay({ id, last, parts }: ReplayProps) {
  const { client } = useApi();
  const tenant = useTenant();
  const look = useTopologyView();
  const { search, change } = useAddress<ReplaySearch>();
  const at = Math.min(last, Math.max(1, Number(search.at ?? last)));
  const [isPlaying, setPlaying] = useState(false);
  const states = useQuery({
    ...topologyStatesQuery(client, tenant, id, String(at)),
    placeholderData: keepPreviousData,
  });
  const go = (next: number): void => change({ at: next >= last ? undefined : String(Math.max(1, next)) });
  // Play at the end restarts from the beginning; the address changes a moment later.
  const isRewound = useRef(false);
  if (at < last) isRewound.current = false;
  const isReady = !states.isPlaceholderData && !states.isPending && !isRewound.current;
  usePlayer({ isPlaying, at, last, isReady, go, setPlaying });
  const play = (): void => {
    isRewound.current = !isPlaying && at >= last && last > 1;
    if (isRewound.current) go(1);
    setPlaying(!isPlaying);
  };
  return (
    <section className={styles.replay} aria-label={t.replay.label}>
      <div className={styles.bar}>
        <Button onClick={play}>
          {isPlaying ? <Pause size={15} aria-hidden="true" /> : <Play size={15} aria-hidden="true" />}
          {isPlaying ? t.replay.pause : t.replay.play}
        </Button>
        <Button look="icon" aria-label={t.replay.back} disabled={at <= 1} onClick={() => go(at - 1)}>
          <SkipBack size={16} aria-hidden="true" />
        </Button>
        <input
          type="range"
          className={styles.scrubber}
          aria-label={t.replay.scrubber}
          aria-valuetext={t.replay.event(at, last)}
          min={1}
          max={last}
          value={at}
          onChange={(event) => {
            setPlaying(false);
            go(Number(event.currentTarget.value));
          }}
        />
        <Button look="icon" aria-label={t.replay.forward} disabled={at >= last} onClick={() => go(at + 1)}>
          <SkipForward size={16} aria-hidden="true" />
        </Button>
        <span className={styles.moment}>
          {t.replay.event(at, last)} {states.data?.at && <Time at={states.data.at.time} isClock />}
        </span>
      </div>
      <InlineProblem error={states.error} />
      {states.data && !states.data.is_whole && <p className={styles.note}>{t.replay.notWhole}</p>}
      {states.data && <TopologyView topology={withStates(parts, states.data.instances)} {...look} />}
    </section>
  );
}

interface PlayerOptions {
  isPlaying: boolean;
  at: number;
  last: number;
  /** Whether the states at `at` are on the screen. */
  isReady: boolean;
  go: (next: number) => void;
  setPlaying: (isPlaying: boolean) => void;
}

/** Advances the position during playback and stops at the end. */
function usePlayer({ isPlaying, at, last, isReady, go, setPlaying }: PlayerOptions): void {
  useEffect(() => {
    if (!isPlaying || !isReady) return;
    if (at >= last) return setPlaying(false);
    const timer = setTimeout(() => go(at + stepOf(last)), STEP_MS);
    return () => clearTimeout(timer);
  });
}
