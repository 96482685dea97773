/** One secret: its visibility, the blueprints that need it, and a way to set a new value. */
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { useApi, useTenant } from '../../api/api-context';
import { t } from '../../text/text';
import { Button } from '../../ui/button';
import { Facts } from '../../ui/facts';
import { JsonView } from '../../ui/json-view';
import { ownerFacts } from '../../ui/owner-facts';
import { Panel } from '../../ui/panel';
import { Screen } from '../../ui/screen';
import { Loaded } from '../../ui/states';
import { useMayChange, VisibilityText } from '../../ui/visibility';
import { UsesPanel } from '../uses';
import { type SecretAction, type SecretDetail, secretQuery } from './secrets';

const SecretDialogs = lazy(() => import('./secret-dialogs'));

export function SecretScreen() {
  const { key } = useParams({ strict: false }) as { key: string };
  const { client } = useApi();
  const query = useQuery(secretQuery(client, useTenant(), key));
  return <Loaded query={query}>{(secret) => <Shown secret={secret} />}</Loaded>;
}

function Shown({ secret }: { secret: SecretDetail }) {
  const tenant = useTenant();
  return (
    <Screen
      name={secret.key}
      above={
        <Link to="/$tenant/secrets" params={{ tenant }}>
          {t.secrets.title}
        </Link>
      }
      side={<Actions secret={secret} />}
    >
      <Panel>
        <Facts
          facts={[
            [t.secrets.value, secret.is_hidden_value ? t.secrets.hiddenLong : t.secrets.readableLong],
            [t.visibility.label, <VisibilityText key="visibility" of={secret.visibility} />],
            [t.secrets.provider, secret.provider_name],
            ...ownerFacts(secret, tenant),
          ]}
        />
      </Panel>
      {secret.schema && (
        <Panel title={t.secrets.schema}>
          <JsonView value={secret.schema} isOpen />
        </Panel>
      )}
      <UsesPanel used={{ kind: 'secrets', key: secret.key }} />
    </Screen>
  );
}

function Actions({ secret }: { secret: SecretDetail }) {
  const [open, setOpen] = useState<SecretAction | null>(null);
  const mayChange = useMayChange();
  const isOutside = secret.provider_name !== null;
  return (
    <>
      {mayChange('secret_update', secret) && (
        <>
          {!isOutside && (
            <Button look="main" onClick={() => setOpen('value')}>
              {t.secrets.newValue}
            </Button>
          )}
          <Button onClick={() => setOpen('edit')}>{t.resource.edit}</Button>
        </>
      )}
      {mayChange('secret_delete', secret) && (
        <Button onClick={() => setOpen('delete')}>{t.resource.delete}</Button>
      )}
      <Suspense fallback={null}>
        {open && <SecretDialogs secret={secret} action={open} onClose={() => setOpen(null)} />}
      </Suspense>
    </>
  );
}
