/** The user's own tokens. Users who may manage other users' tokens see all tokens. */
import { lazy, Suspense, useState } from 'react';
import { useMay } from '../../api/api-context';
import { type TokenRow, tokenList } from '../../api/tokens';
import { t } from '../../text/text';
import { Button } from '../../ui/button';
import { ListScreen } from '../../ui/list-screen';
import { OpensDialog } from '../../ui/opens-dialog';
import cells from '../../ui/row-cells.module.css';
import { Empty } from '../../ui/states';
import { Time } from '../../ui/time';
import type { ListColumn } from '../../ui/virtual-list';

const NewTokenDialog = lazy(() => import('./new-token-dialog'));
const RevokeDialog = lazy(() => import('./revoke-dialog'));

export function TokensScreen() {
  const may = useMay();
  const [revoked, setRevoked] = useState<string | null>(null);
  return (
    <>
      <ListScreen
        name={t.tokens.title}
        label={t.tokens.title}
        list={tokenList}
        columns={columns(may('delete_token') ? setRevoked : null)}
        keyOf={({ id }) => id}
        count={t.tokens.count}
        sort={NEWEST_FIRST}
        above={t.tokens.hint}
        empty={<Empty title={t.tokens.empty} hint={t.tokens.emptyHint} />}
        side={
          may('create_token') && (
            <OpensDialog text={t.tokens.create}>{(close) => <NewTokenDialog onClose={close} />}</OpensDialog>
          )
        }
      />
      <Suspense fallback={null}>
        {revoked && <RevokeDialog id={revoked} onClose={() => setRevoked(null)} />}
      </Suspense>
    </>
  );
}

const NEWEST_FIRST = ['-created_at', 'id'];

function columns(onRevoke: ((id: string) => void) | null): ListColumn<TokenRow>[] {
  const names = t.tokens.columns;
  return [
    {
      id: 'id',
      name: names.id,
      width: 'minmax(120px, 1fr)',
      cell: (row) => (
        <span className={cells.main}>
          <strong>{row.id}</strong>
          <span className={`${cells.sub} narrow-only`}>{row.description}</span>
          <span className={`${cells.line} narrow-only`}>
            {names.expires} {row.expiration_date ? <Time at={row.expiration_date} /> : t.tokens.never}
          </span>
        </span>
      ),
    },
    {
      id: 'description',
      name: names.description,
      width: 'minmax(120px, 2fr)',
      isWideOnly: true,
      cell: ({ description }) => description ?? t.none,
    },
    {
      id: 'user',
      name: names.user,
      width: 'minmax(80px, 1fr)',
      isWideOnly: true,
      cell: ({ username }) => username,
    },
    {
      id: 'expires',
      name: names.expires,
      width: '170px',
      isWideOnly: true,
      cell: (row) => (row.expiration_date ? <Time at={row.expiration_date} /> : t.tokens.never),
    },
    {
      id: 'used',
      name: names.used,
      width: '170px',
      isWideOnly: true,
      cell: (row) => (row.last_used ? <Time at={row.last_used} /> : t.tokens.never),
    },
    ...(onRevoke
      ? [
          {
            id: 'actions',
            name: names.actions,
            width: '100px',
            cell: ({ id }: TokenRow) => (
              <Button aria-label={t.tokens.revokeId(id)} onClick={() => onRevoke(id)}>
                {t.tokens.revoke}
              </Button>
            ),
          },
        ]
      : []),
  ];
}
