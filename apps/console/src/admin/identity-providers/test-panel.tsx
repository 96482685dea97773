import { useChange } from '../../api/use-change';
import { t } from '../../text/text';
import { Badge } from '../../ui/badge';
import { Button } from '../../ui/button';
import { Panel } from '../../ui/panel';
import { InlineProblem } from '../../ui/states';
import styles from '../admin.module.css';
import { type ProviderTest, testProvider } from './identity-providers';

/** Asks the manager whether it reaches the provider, and shows its sentence. */
export function TestPanel({ id }: { id: string }) {
  // Nothing changes, so nothing is read again.
  const test = useChange<void, ProviderTest>([], (client, tenant) => testProvider(client, tenant, id));
  return (
    <Panel
      title={t.identityProviders.test}
      side={
        <Button disabled={test.isPending} onClick={() => test.mutate()}>
          {test.isPending ? t.identityProviders.testing : t.identityProviders.testNow}
        </Button>
      }
    >
      <div className={styles.stack} role="status">
        {test.data ? (
          <Result of={test.data} />
        ) : (
          <p className={styles.quiet}>{t.identityProviders.testHint}</p>
        )}
        <InlineProblem error={test.error} />
      </div>
    </Panel>
  );
}

function Result({ of: { ok, message, warnings } }: { of: ProviderTest }) {
  return (
    <>
      <p>
        <Badge status={ok ? 'well' : 'failed'} isBare /> {message}
      </p>
      {warnings.map((warning) => (
        <p key={warning} className={styles.warning}>
          {warning}
        </p>
      ))}
    </>
  );
}
