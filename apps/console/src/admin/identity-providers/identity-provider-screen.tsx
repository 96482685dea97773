/** One identity provider: its settings without the secret, the test, and which groups give which roles. */
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useApi, useTenant } from '../../api/api-context';
import { t } from '../../text/text';
import { Badge } from '../../ui/badge';
import { Copyable } from '../../ui/copyable';
import { Facts } from '../../ui/facts';
import { Panel } from '../../ui/panel';
import { Permitted } from '../../ui/permitted';
import { Screen } from '../../ui/screen';
import { Loaded } from '../../ui/states';
import styles from '../admin.module.css';
import {
  type IdentityProvider,
  identityProviderQuery,
  MANAGES_PROVIDERS,
  redirectAddress,
} from './identity-providers';
import { MappingPanel } from './mapping-panel';
import { ProviderActions } from './provider-actions';
import { factsOf } from './provider-facts';
import { TestPanel } from './test-panel';

export function IdentityProviderScreen() {
  const { id } = useParams({ strict: false }) as { id: string };
  return (
    <Permitted permission={MANAGES_PROVIDERS}>
      <Read key={id} id={id} />
    </Permitted>
  );
}

function Read({ id }: { id: string }) {
  const { client } = useApi();
  const query = useQuery(identityProviderQuery(client, useTenant(), id));
  return <Loaded query={query}>{(provider) => <Shown provider={provider} />}</Loaded>;
}

function Shown({ provider }: { provider: IdentityProvider }) {
  const tenant = useTenant();
  const { id } = provider;
  return (
    <Screen
      name={id}
      title={
        <>
          {id} <Badge status={provider.is_enabled ? 'enabled' : 'disabled'} />
        </>
      }
      above={
        <Link to="/$tenant/admin/identity-providers" params={{ tenant }}>
          {t.identityProviders.title}
        </Link>
      }
      side={<ProviderActions provider={provider} />}
    >
      <Panel>
        <Facts facts={factsOf(provider)} />
      </Panel>
      {provider.type === 'oidc' && (
        <Panel title={t.identityProviders.redirect}>
          <div className={styles.stack}>
            <p>{t.identityProviders.redirectHint}</p>
            <Copyable text={redirectAddress(id)} name={t.identityProviders.redirect} />
          </div>
        </Panel>
      )}
      <TestPanel id={id} />
      <MappingPanel provider={provider} />
    </Screen>
  );
}
