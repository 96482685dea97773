import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { useApi, useMay, useTenant } from '../../api/api-context';
import { type TokenRow, tokensOfQuery } from '../../api/tokens';
import { t } from '../../text/text';
import { Button } from '../../ui/button';
import { LoadedTable } from '../../ui/loaded-table';
import { Panel } from '../../ui/panel';
import type { Column } from '../../ui/simple-table';
import { Time } from '../../ui/time';
import styles from '../admin.module.css';

const AccountTokenDialog = lazy(() => import('./account-token-dialog'));
const RevokeDialog = lazy(() => import('../tokens/revoke-dialog'));

/** Tokens of a service account. It makes none itself. */
export function AccountTokens({ name }: { name: string }) {
  const { client } = useApi();
  const may = useMay();
  const query = useQuery(tokensOfQuery(client, useTenant(), name));
  const [isOpen, setOpen] = useState(false);
  const [revoked, setRevoked] = useState<string | null>(null);
  return (
    <Panel title={t.tokens.title} side={<Button onClick={() => setOpen(true)}>{t.tokens.create}</Button>}>
      <LoadedTable
        query={query}
        label={t.tokens.title}
        keyOf={({ id }) => id}
        columns={columns(may('delete_token') ? setRevoked : null)}
        empty={<p className={styles.quiet}>{t.serviceAccounts.noTokens}</p>}
      />
      <Suspense fallback={null}>
        {isOpen && <AccountTokenDialog name={name} onClose={() => setOpen(false)} />}
        {revoked && <RevokeDialog id={revoked} onClose={() => setRevoked(null)} />}
      </Suspense>
    </Panel>
  );
}

const columns = (onRevoke: ((id: string) => void) | null): Column<TokenRow>[] => [
  { name: t.tokens.columns.id, cell: ({ id }) => id },
  { name: t.tokens.columns.description, cell: ({ description }) => description ?? t.none },
  {
    name: t.tokens.columns.expires,
    cell: (row) => (row.expiration_date ? <Time at={row.expiration_date} /> : t.tokens.never),
  },
  {
    name: t.tokens.columns.used,
    cell: (row) => (row.last_used ? <Time at={row.last_used} /> : t.tokens.never),
  },
  ...(onRevoke
    ? [
        {
          name: t.tokens.columns.actions,
          cell: ({ id }: TokenRow) => (
            <Button aria-label={t.tokens.revokeId(id)} onClick={() => onRevoke(id)}>
              {t.tokens.revoke}
            </Button>
          ),
        },
      ]
    : []),
];
