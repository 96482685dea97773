/** Placeholders for the content of a screen: loading, empty, refused, forbidden, missing, unreachable. */
import { systemClock } from '@baton/kernel';
import { CircleAlert, Inbox, LoaderCircle, Lock, SearchX, WifiOff } from 'lucide-react';
import type { ReactNode } from 'react';
import { problemOf } from '../api/problem';
import { durationText } from '../text/format';
import { t } from '../text/text';
import { Button } from './button';
import styles from './states.module.css';

function Shape({ icon, title, children }: { icon: ReactNode; title: string; children?: ReactNode }) {
  return (
    <div className={styles.shape}>
      <span className={styles.icon}>{icon}</span>
      <p className={styles.title}>{title}</p>
      {children}
    </div>
  );
}

export function Loading() {
  return (
    <div className={styles.loading} role="status">
      <LoaderCircle className={styles.turning} size={20} aria-hidden="true" />
      {t.state.loading}
    </div>
  );
}

export function Empty({ title, hint, action }: { title: string; hint?: string; action?: ReactNode }) {
  return (
    <Shape icon={<Inbox size={26} aria-hidden="true" />} title={title}>
      {hint && <p className={styles.hint}>{hint}</p>}
      {action}
    </Shape>
  );
}

const HEADS = {
  offline: { Icon: WifiOff, title: t.state.offline },
  'signed-out': { Icon: Lock, title: t.signIn.ended },
  forbidden: { Icon: Lock, title: t.state.forbidden },
  missing: { Icon: SearchX, title: t.state.missing },
  refused: { Icon: CircleAlert, title: t.state.error },
} as const;

/** Shows an error with its code, its message and the request id, by which an administrator finds it. */
export function ProblemView({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const { kind, code, message, requestId } = problemOf(error);
  const { Icon, title } = HEADS[kind];
  const hint = kind === 'forbidden' ? t.state.forbiddenHint : kind === 'missing' ? t.state.missingHint : null;
  return (
    <div role="alert">
      <Shape icon={<Icon size={26} aria-hidden="true" />} title={title}>
        {message && <p className={styles.message}>{message}</p>}
        {hint && <p className={styles.hint}>{hint}</p>}
        {(code || requestId) && (
          <dl className={styles.facts}>
            {code && (
              <div>
                <dt>{t.state.code}</dt>
                <dd>{code}</dd>
              </div>
            )}
            {requestId && (
              <div>
                <dt>{t.state.request}</dt>
                <dd>{requestId}</dd>
              </div>
            )}
          </dl>
        )}
        {onRetry && <Button onClick={onRetry}>{t.retry}</Button>}
      </Shape>
    </div>
  );
}

/** Shows the error of a request beside its button. */
export function InlineProblem({ error }: { error: unknown }) {
  if (!error) return null;
  const { code, message, kind } = problemOf(error);
  return (
    <p className={styles.inline} role="alert">
      <CircleAlert size={16} aria-hidden="true" />
      <span>
        {kind === 'offline' ? t.state.offline : message} {code && <code>{code}</code>}
      </span>
    </p>
  );
}

interface QueryLike<Data> {
  data: Data | undefined;
  error: unknown;
  /** Epoch ms. */
  dataUpdatedAt: number;
  refetch: () => unknown;
}

/** Shows the content of a query. During a reload the old data stay; a failed reload is reported above them. */
export function Loaded<Data>({
  query,
  children,
}: {
  query: QueryLike<Data>;
  children: (data: Data) => ReactNode;
}) {
  const { data, error, dataUpdatedAt, refetch } = query;
  if (data === undefined)
    return error ? <ProblemView error={error} onRetry={() => void refetch()} /> : <Loading />;
  return (
    <>
      {error ? <StaleProblem error={error} sinceMs={dataUpdatedAt} /> : null}
      {children(data)}
    </>
  );
}

/** Warns that the shown data could not be reloaded. When the manager is unreachable, it also shows the age of the data. */
function StaleProblem({ error, sinceMs }: { error: unknown; sinceMs: number }) {
  if (problemOf(error).kind !== 'offline') return <InlineProblem error={error} />;
  return (
    <p className={styles.inline} role="alert">
      <WifiOff size={16} aria-hidden="true" />
      {t.state.offlineSince(durationText(Math.max(0, systemClock.now() - sinceMs)))}
    </p>
  );
}
